import { ConfigError, type Env, optionalText, text } from '../../shared/env.ts'

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
export const chatApiUrl = (env: Env): string =>
  httpUrl(env, 'CHAT_API_URL', 'https://slack.com/api').replace(/\/+$/, '')

/** CHAT_*; null: there is no app, and nobody can install it. @throws ConfigError */
export function chatSettings(env: Env): ChatSettings | null {
  const names = ['CHAT_CLIENT_ID', 'CHAT_CLIENT_SECRET', 'CHAT_SIGNING_SECRET']
  const [clientId, clientSecret, signingSecret] = names.map(name => optionalText(env, name))
  if (clientId && clientSecret && signingSecret) {
    const authorizeUrl = httpUrl(env, 'CHAT_AUTHORIZE_URL', 'https://slack.com/oauth/v2/authorize')
    return { clientId, clientSecret, signingSecret, authorizeUrl }
  }
  if (clientId || clientSecret || signingSecret) throw new ConfigError(`${names.join(', ')} have to be set together`)
  return null
}

function httpUrl(env: Env, name: string, fallback: string): string {
  const value = text(env, name, fallback)
  if (/^https?:\/\//.test(value) && URL.canParse(value)) return value
  throw new ConfigError(`${name} has to be a URL that begins with http:// or https://`)
}
