import { ConfigError, type Env, readOptionalText, readText } from '../../../shared/process/env.ts'

/** The app that the operator has registered with the chat provider. */
export type ChatSettings = {
  clientId: string
  clientSecret: string
  /** verifies that requests come from the provider */
  signingSecret: string
  /** the consent screen */
  authorizeUrl: string
}

/** Base address of the provider's API, without a trailing slash. */
export const readChatApiUrl = (env: Env): string =>
  httpUrl('CHAT_API_URL', readText(env, 'CHAT_API_URL', 'https://slack.com/api')).replace(/\/+$/, '')

/** Reads CHAT_*; null when no app is configured. @throws ConfigError */
export function readChatSettings(env: Env): ChatSettings | null {
  const clientId = readOptionalText(env, 'CHAT_CLIENT_ID')
  const clientSecret = readOptionalText(env, 'CHAT_CLIENT_SECRET')
  const signingSecret = readOptionalText(env, 'CHAT_SIGNING_SECRET')
  if (clientId && clientSecret && signingSecret) {
    const authorizeUrl = readText(env, 'CHAT_AUTHORIZE_URL', 'https://slack.com/oauth/v2/authorize')
    return { clientId, clientSecret, signingSecret, authorizeUrl: httpUrl('CHAT_AUTHORIZE_URL', authorizeUrl) }
  }
  if (clientId === null && clientSecret === null && signingSecret === null) return null
  throw new ConfigError('CHAT_CLIENT_ID, CHAT_CLIENT_SECRET and CHAT_SIGNING_SECRET must be set together')
}

function httpUrl(name: string, value: string): string {
  if (/^https?:\/\//.test(value) && URL.canParse(value)) return value
  throw new ConfigError(`${name} must be a URL that begins with http:// or https://`)
}
