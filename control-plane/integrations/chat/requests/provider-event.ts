import { toId, toRecord, toText } from '../provider/field-values.ts'

/** What the provider tells of itself. `challenge`: to be repeated; `endedTeamId`: a team that may have removed the app. */
export type ProviderEvent = { challenge: string | null; endedTeamId: string | null }

const ENDS = ['app_uninstalled', 'tokens_revoked']

/** Reads a notification of the provider's; one that needs nothing has neither. */
export function parseProviderEvent(payload: unknown): ProviderEvent {
  const { type, challenge, team_id: teamId, event } = toRecord(payload)
  if (type === 'url_verification') return { challenge: toText(challenge).slice(0, 1_000), endedTeamId: null }
  const isEnd = type === 'event_callback' && ENDS.includes(toText(toRecord(event).type))
  return { challenge: null, endedTeamId: isEnd ? toId(teamId) : null }
}
