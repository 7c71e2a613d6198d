import { lineOf, recordOf, textOf, tokenOf, wordOf } from './words.ts'

/** What a team granted: the provider's answer to an exchanged code. */
export type Grant = {
  teamId: string
  teamName: string
  scopes: string[]
  accessToken: string
  /** null: the token does not expire */
  refreshToken: string | null
  expiresInSeconds: number | null
  /** the channel that was chosen on the consent screen */
  channel: { id: string; name: string } | null
}

type Fields = Record<string, unknown>

/**
 * Reads `oauth.v2.access`; null when it lacks what an installation needs: a team, a token of a bot, and the right to
 * write.
 */
export function readGrant(fields: Fields): Grant | null {
  const team = recordOf(fields.team)
  const teamId = wordOf(team.id)
  const token = readToken(fields)
  const scopes = textOf(fields.scope).split(',').filter(Boolean)
  if (teamId === null || token === null || fields.token_type !== 'bot' || !scopes.includes('chat:write')) return null
  return { teamId, teamName: lineOf(team.name) || teamId, scopes, ...token, channel: channelOf(fields) }
}

export type RenewedToken = Pick<Grant, 'accessToken' | 'refreshToken' | 'expiresInSeconds'>

/** The token of a grant or of its renewal; null where there is none. */
export function readToken(fields: Fields): RenewedToken | null {
  const accessToken = tokenOf(fields.access_token)
  if (accessToken === null) return null
  const refreshToken = tokenOf(fields.refresh_token)
  const seconds = Number(fields.expires_in)
  const expires = refreshToken !== null && Number.isFinite(seconds) && seconds > 0
  return { accessToken, refreshToken: expires ? refreshToken : null, expiresInSeconds: expires ? seconds : null }
}

function channelOf(fields: Fields): Grant['channel'] {
  const hook = recordOf(fields.incoming_webhook)
  const id = wordOf(hook.channel_id)
  return id === null ? null : { id, name: lineOf(hook.channel) || id }
}
