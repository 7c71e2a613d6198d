import type { ScreenState } from './dashboard-screens.tsx'

/** Fields that contain a name of the API, an id or a time, which no person, target or operator can choose. */
const FIXED = new Set([
  ...['status', 'type', 'kind', 'severity', 'region', 'regions', 'event', 'source', 'trigger', 'vote', 'state'],
  ...['from', 'to', 'rule', 'mode', 'quorum', 'operator', 'keyword_type', 'auth_type', 'channel_type', 'method'],
  ...['role', 'votes', 'no_vote_reason', 'scope', 'plan', 'resource', 'action'],
])
const isFixed = (name: string) => FIXED.has(name) || /(^|_)(ids?|at|since|until|by)$/.test(name)

/** The answers of a state with `text` in every field that may contain a text. A new field counts as one that may. */
export const fillWithText = (answers: ScreenState['answers'], text: string): ScreenState['answers'] =>
  fill(answers, '', text) as ScreenState['answers']

function fill(value: unknown, name: string, text: string): unknown {
  if (typeof value === 'string') return isFixed(name) || /^\d{4}-\d\d-\d\dT/.test(value) ? value : text
  if (Array.isArray(value)) return value.map(one => fill(one, name, text))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one, key, text)]))
}
