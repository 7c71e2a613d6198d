import { toId, toLine, toRecord, toText, toToken } from '../provider/field-values.ts'

/** The grant of a team: the provider's response to an exchanged code. */
export type Grant = {
  teamId: string
  teamName: string
  scopes: string[]
  accessToken: string
  /** null: the token does not expire */
  refreshToken: string | null
  expiresInSeconds: number | null
  /** the chat channel that was chosen on the consent screen */
  channel: { id: string; name: string } | null
}

type Fields = Record<string, unknown>

/**
 * Parses the response of `oauth.v2.access`. Returns null when a team, a bot token or the scope `chat:write` is missing.
 */
export function parseGrant(fields: Fields): Grant | null {
  const team = toRecord(fields.team)
  const teamId = toId(team.id)
  const token = parseToken(fields)
  const scopes = toText(fields.scope).split(',').filter(Boolean)
  if (teamId === null || token === null || fields.token_type !== 'bot' || !scopes.includes('chat:write')) return null
  return { teamId, teamName: toLine(team.name) || teamId, scopes, ...token, channel: parseGrantChannel(fields) }
}

type RenewedToken = Pick<Grant, 'accessToken' | 'refreshToken' | 'expiresInSeconds'>

/** Parses the token of a grant or of its renewal; null when there is none. */
export function parseToken(fields: Fields): RenewedToken | null {
  const accessToken = toToken(fields.access_token)
  if (accessToken === null) return null
  const refreshToken = toToken(fields.refresh_token)
  const seconds = Number(fields.expires_in)
  const expires = refreshToken !== null && Number.isFinite(seconds) && seconds > 0
  return { accessToken, refreshToken: expires ? refreshToken : null, expiresInSeconds: expires ? seconds : null }
}

function parseGrantChannel(fields: Fields): Grant['channel'] {
  const hook = toRecord(fields.incoming_webhook)
  const id = toId(hook.channel_id)
  return id === null ? null : { id, name: toLine(hook.channel) || id }
}
