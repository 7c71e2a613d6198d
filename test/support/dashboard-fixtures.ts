import type { BoardRow } from '../../control-plane/dashboard/core/board/board-row.ts'
import type { Me } from '../../control-plane/dashboard/core/frame-context.ts'
import type { OperationResponse } from '../../control-plane/dashboard/core/operations.ts'
import type { ExplainedCheck, ExplainedVote, Explanation } from '../../control-plane/verdict/core/types.ts'

type Board = OperationResponse<'readMonitorBoard'>['data']
type Column<Name extends keyof Board['monitors']> = Board['monitors'][Name][number]

export const NOW = Date.parse('2026-11-21T14:05:30Z')
export const ago = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString()

type BoardEntry = {
  id?: string
  name: string
  type?: Column<'type'>
  status?: Column<'status'>
  since?: string | null
  isPaused?: boolean
  tags?: string[]
  votes?: Column<'votes'>
  cause?: string | null
  issue?: string | null
  parents?: string[]
  silencedUntil?: string | null
}

/** An answer of the board. The id of a monitor is its name unless it has one. */
export function buildBoard(
  entries: readonly BoardEntry[],
  { reset = false, removed = [], revision = '1', unread_since = null }: Partial<Omit<Board, 'monitors'>> = {},
): Board {
  return {
    ...{ revision, reset, removed, regions_without_probe: [], unread_since },
    monitors: {
      id: entries.map(({ id, name }) => id ?? name),
      name: entries.map(({ name }) => name),
      type: entries.map(({ type = 'http' }) => type),
      status: entries.map(({ status = 'up' }) => status),
      status_changed_at: entries.map(({ since = null }) => since),
      is_paused: entries.map(({ isPaused = false }) => isPaused),
      tags: entries.map(({ tags = [] }) => tags),
      votes: entries.map(({ votes = { 'us-east': 'ok' } }) => votes),
      cause: entries.map(({ cause = null }) => cause),
      issue: entries.map(({ issue = null }) => issue),
      parents: entries.map(({ parents = [] }) => parents),
      silenced_until: entries.map(({ silencedUntil = null }) => silencedUntil),
    },
  }
}

/** A row of the board; up for an hour by default. */
export const buildRow = (changes: Partial<BoardRow> & { name: string }): BoardRow => ({
  ...{
    id: changes.name,
    type: 'http',
    status: 'up',
    sinceMs: NOW - 3_600_000,
    tags: [],
    bars: [],
    cause: null,
    issue: null,
    parents: [],
    silencedUntilMs: null,
  },
  ...changes,
})

/** The founder of an organization. */
export const ADMIN: Me = {
  user: { id: 'u1', email: 'ann@example.com', name: 'Ann' },
  ...{ api_key: null, scope: 'admin', role: 'admin', is_operator: false },
  preferences: { theme: 'system', density: 'compact', keyboard_shortcuts: true, time_zone: null },
  organization: { id: 'o1', name: 'Example Ltd', plan: 'free' },
  project: { id: 'p1', name: 'Production' },
}

export const VIEWER: Me = { ...ADMIN, scope: 'read', role: 'viewer' }

const CHECK: ExplainedCheck = {
  ...{ status: 'up', status_code: 200, response_time_ms: 812, error: null, attempt: 1 },
  ...{ scheduled_at: ago(1), probe_id: 'probe-1' },
}

/** A check that the target refused. */
export const REFUSED: ExplainedCheck = {
  ...CHECK,
  ...{ status: 'down', status_code: 0, response_time_ms: 3 },
  error: { source: 'target', code: 'ECONNREFUSED', message: 'connection refused' },
}

/** The vote `ok` of a region. */
export const buildVote = (region: string, changes: Partial<ExplainedVote> = {}): ExplainedVote => ({
  ...{ region, state: 'ok', votes: true, age_seconds: 12, failed_in_a_row: 0, not_up_in_a_row: 0, better_in_a_row: 0 },
  ...{ first_failure_at: null, last_check: CHECK },
  ...changes,
})

export const buildFailingVote = (region: string, changes: Partial<ExplainedVote> = {}): ExplainedVote =>
  buildVote(region, { state: 'failing', failed_in_a_row: 3, first_failure_at: ago(2), last_check: REFUSED, ...changes })

/** Two of three regions are failing, so the monitor is down. */
export const buildExplanation = (changes: Partial<Explanation> = {}): Explanation => ({
  ...{ from: 'up', to: 'down', at: ago(1), rule: 'majority_failing' },
  quorum: { mode: 'full', regions: 3, needed: 2, voting: 3, lost_since: null },
  counts: { ok: 1, degraded: 0, failing: 2, not_voting: 0 },
  thresholds: {
    ...{ failures_in_a_row: 3, better_in_a_row: 2, interval_seconds: 30, timeout_ms: 10_000 },
    vote_lifetime_seconds: 190,
  },
  decided_by: { ...REFUSED, region: 'eu-west' },
  votes: [buildFailingVote('us-east'), buildFailingVote('eu-west'), buildVote('ap-southeast')],
  timings: {
    ...{ first_failure_at: ago(2), others_asked_at: ago(1.9), no_majority_since: null },
    ...{ outage_since: ago(1), outage_seconds: null },
  },
  ...changes,
})
