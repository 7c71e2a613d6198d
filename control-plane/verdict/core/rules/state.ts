import type { MonitorState, Policy, RegionTally } from '../types.ts'
import { resetStreaks } from './streaks.ts'
import { countVotes, hasQuorumOfPresent } from './votes.ts'

/** A monitor of which nothing is known: new, or just resumed (decisions 4.8: status null). */
export function createMonitorState(monitorId: string, configVersion: number): MonitorState {
  return {
    monitorId,
    configVersion,
    status: null,
    statusSinceMs: null,
    outageSinceMs: null,
    noMajoritySinceMs: null,
    quorumLostSinceMs: null,
    askedAtMs: null,
    unchecked: null,
    restoredAtMs: null,
    cells: [],
  }
}

/**
 * A stored state after a restart or takeover. Its votes are as old as they were, so they end when they would have ended
 * without it. `knownFromMs`: the JetStream time from which on all results are known; a vote that is older may have been
 * renewed until then and counts as seen then (decision 190). null: all results are known.
 */
export function restoreState(stored: MonitorState, knownFromMs: number | null): MonitorState {
  return stored.restoredAtMs === knownFromMs ? stored : { ...stored, restoredAtMs: knownFromMs }
}

/**
 * The state under a newer configuration: status, region states and votes stay, regions that are no longer watched go
 * (decisions 4.6), and streaks begin again when the target or the assertions have changed (decision 186). Votes that no longer suffice do so from now on, not from some earlier time.
 */
export function adoptConfig(state: MonitorState, policy: Policy, nowMs: number): MonitorState {
  if (state.configVersion >= policy.configVersion) return state
  const watched = state.cells.filter(cell => policy.regions.includes(cell.region))
  const cells = state.configVersion >= policy.streaksSince ? watched : watched.map(resetStreaks)
  const next = { ...state, configVersion: policy.configVersion, cells }
  const isHeld = !hasQuorumOfPresent(countVotes(next, policy, nowMs))
  return { ...next, quorumLostSinceMs: isHeld ? (state.quorumLostSinceMs ?? nowMs) : null }
}

/** `state` with votes as new as those in `heard`, of the same monitor. */
export function mergeVoteTimes(state: MonitorState, heard: MonitorState): MonitorState {
  const heardAtMs = new Map(heard.cells.map(cell => [cell.region, cell.votedAtMs]))
  const cells = state.cells.map(cell => {
    const atMs = heardAtMs.get(cell.region) ?? null
    const isNewer = cell.votedAtMs !== null && atMs !== null && atMs > cell.votedAtMs
    return isNewer ? { ...cell, votedAtMs: atMs } : cell
  })
  return { ...state, cells }
}

/** `state` with one cell put in; in place of the region's former one when there is one. */
export function withTally(state: MonitorState, cell: RegionTally): MonitorState {
  return { ...state, cells: replaceTally(state.cells, cell) }
}

export function replaceTally(cells: readonly RegionTally[], cell: RegionTally): readonly RegionTally[] {
  const next = cells.slice()
  for (let i = 0; i < next.length; i++) {
    if (next[i]!.region === cell.region) {
      next[i] = cell
      return next
    }
  }
  next.push(cell)
  return next
}

/** Nothing grows here: when only fence, vote time and last result moved, the row need not be written again. */
export function isSteadyTally(cell: RegionTally): boolean {
  return (
    cell.state === 'ok' && cell.failures === 0 && cell.notUp === 0 && cell.better === 0 && cell.secondOpinion === null
  )
}

/** Up, every known region steady, nothing being waited for. */
export function isSteady(state: MonitorState): boolean {
  return state.status === 'up' && state.quorumLostSinceMs === null && state.cells.every(isSteadyTally)
}
