import { recordOf, textOf, wordOf } from './words.ts'

/** What the provider tells of itself. `challenge`: to be repeated; `endedTeamId`: a team that may have removed the app. */
export type Told = { challenge: string | null; endedTeamId: string | null }

const ENDS = ['app_uninstalled', 'tokens_revoked']

/** Reads a notification of the provider's; one that needs nothing has neither. */
export function readEvent(payload: unknown): Told {
  const { type, challenge, team_id: teamId, event } = recordOf(payload)
  if (type === 'url_verification') return { challenge: textOf(challenge).slice(0, 1_000), endedTeamId: null }
  const isEnd = type === 'event_callback' && ENDS.includes(textOf(recordOf(event).type))
  return { challenge: null, endedTeamId: isEnd ? wordOf(teamId) : null }
}
