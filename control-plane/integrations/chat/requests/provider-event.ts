import { toId, toRecord, toText } from '../provider/field-values.ts'

/** An event of the provider. `challenge`: to be sent back; `endedTeamId`: a team that may have removed the app. */
type ProviderEvent = { challenge: string | null; endedTeamId: string | null }

const ENDS = ['app_uninstalled', 'tokens_revoked']

/** Parses an event of the provider. An event that needs no action has neither value. */
export function parseProviderEvent(payload: unknown): ProviderEvent {
  const { type, challenge, team_id: teamId, event } = toRecord(payload)
  if (type === 'url_verification') return { challenge: toText(challenge).slice(0, 1_000), endedTeamId: null }
  const isEnd = type === 'event_callback' && ENDS.includes(toText(toRecord(event).type))
  return { challenge: null, endedTeamId: isEnd ? toId(teamId) : null }
}
