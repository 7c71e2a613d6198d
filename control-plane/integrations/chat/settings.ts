import { ConfigError, type Env, readOptionalText, readText } from '../../../shared/process/env.ts'

/** The app that the operator has registered with the provider of the team chat. */
export type ChatSettings = {
  clientId: string
  clientSecret: string
  /** proves that commands and clicks come from the provider */
  signingSecret: string
  /** the consent screen */
  authorizeUrl: string
}

/** Where the provider's methods are called, without a slash at the end. */
export const readChatApiUrl = (env: Env): string =>
  httpUrl('CHAT_API_URL', readText(env, 'CHAT_API_URL', 'https://slack.com/api')).replace(/\/+$/, '')

/** CHAT_*; null: there is no app, and nobody can install it. @throws ConfigError */
export function readChatSettings(env: Env): ChatSettings | null {
  const clientId = readOptionalText(env, 'CHAT_CLIENT_ID')
  const clientSecret = readOptionalText(env, 'CHAT_CLIENT_SECRET')
  const signingSecret = readOptionalText(env, 'CHAT_SIGNING_SECRET')
  if (clientId && clientSecret && signingSecret) {
    const authorizeUrl = readText(env, 'CHAT_AUTHORIZE_URL', 'https://slack.com/oauth/v2/authorize')
    return { clientId, clientSecret, signingSecret, authorizeUrl: httpUrl('CHAT_AUTHORIZE_URL', authorizeUrl) }
  }
  if (clientId === null && clientSecret === null && signingSecret === null) return null
  throw new ConfigError('CHAT_CLIENT_ID, CHAT_CLIENT_SECRET and CHAT_SIGNING_SECRET have to be set together')
}

function httpUrl(name: string, value: string): string {
  if (/^https?:\/\//.test(value) && URL.canParse(value)) return value
  throw new ConfigError(`${name} has to be a URL that begins with http:// or https://`)
}
