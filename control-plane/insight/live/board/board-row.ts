import { listConfigurationIssues } from '../../../monitoring/monitors/settings/configuration-issues.ts'
import { HEARTBEAT_REGION, type MonitorStatus, type StoredMonitor } from '../../../monitoring/monitors/types.ts'
import type { RegionState } from '../../../verdict/core/types.ts'

/** The vote of a region. `none`: no result yet, in doubt, or not checked. */
export const BOARD_VOTES = ['ok', 'degraded', 'failing', 'none'] as const
type BoardVote = (typeof BOARD_VOTES)[number]

/** What decided the status: the last result of the region that is worst. Times in ms. */
type DecidingCheck = {
  error: { code: string; message: string } | null
  statusCode: number
  responseTimeMs: number
}

/** A monitor with the parts of its verdict state that the board shows. */
export type BoardSource = Pick<StoredMonitor, 'id' | 'name' | 'type' | 'url' | 'keyword' | 'heartbeatInterval'> & {
  status: MonitorStatus | null
  statusChangedAt: Date | null
  isPaused: boolean
  tags: string[] | null
  regions: string[]
  isFromDataSource: boolean
  /** no check has counted for a while */
  isUnchecked: boolean
  /** the regions with a result, and their states in the same order; null before the first one */
  voters: string[] | null
  states: RegionState[] | null
  /** regions whose failures are in doubt */
  held: string[] | null
  cause: DecidingCheck | null
  /** the monitors that it depends on */
  parents: string[]
  /** the end of its last silence, also after that; null without one */
  silencedUntil: Date | null
}

/** The columns of the board, in the order of the fragments of a row. */
export const BOARD_COLUMNS = [
  'id',
  'name',
  'type',
  'status',
  'status_changed_at',
  'is_paused',
  'tags',
  'votes',
  'cause',
  'issue',
  'parents',
  'silenced_until',
] as const

const MAX_CAUSE_LENGTH = 120

/** The values of a monitor as JSON, one for each column. */
export function buildFragments(source: BoardSource): string[] {
  return [
    source.id,
    source.name,
    source.type,
    source.status,
    source.statusChangedAt?.toISOString() ?? null,
    source.isPaused,
    source.tags ?? [],
    buildVotes(source),
    formatCause(source),
    listConfigurationIssues(source)[0] ?? null,
    source.parents,
    source.silencedUntil?.toISOString() ?? null,
  ].map(value => JSON.stringify(value))
}

function buildVotes({ type, regions, isFromDataSource, isUnchecked, isPaused, ...state }: BoardSource) {
  const votes: Record<string, BoardVote> = {}
  // heartbeats and values of data sources have a single voter instead of regions
  const isSingle = type === HEARTBEAT_REGION || isFromDataSource
  for (const region of isSingle ? [] : regions) votes[region] = 'none'
  if (isUnchecked || isPaused) return votes
  const held = new Set(state.held)
  for (const [i, voter] of (state.voters ?? []).entries()) {
    const vote = state.states![i]!
    if ((isSingle || voter in votes) && vote !== 'pending' && !held.has(voter)) votes[voter] = vote
  }
  return votes
}

/** Why the status is as it is, in a few words: "connection refused", "status 503". null while nothing is wrong. */
function formatCause({ status, isPaused, isUnchecked, cause }: BoardSource): string | null {
  if (status === null) return isUnchecked && !isPaused ? 'not checked' : null
  if (status === 'up' || cause === null) return null
  const text = cause.error ? cause.error.message || cause.error.code : formatAnswer(cause)
  return text.length > MAX_CAUSE_LENGTH ? `${text.slice(0, MAX_CAUSE_LENGTH - 1)}…` : text
}

function formatAnswer({ statusCode, responseTimeMs }: DecidingCheck): string {
  if (statusCode >= 400) return `status ${statusCode}`
  return responseTimeMs > 0 ? `${responseTimeMs} ms` : 'no answer'
}
