import type { MonitorState, Policy, RegionTally } from '../types.ts'
import { resetStreaks } from './streaks.ts'
import { countVotes, hasQuorumOfPresent } from './votes.ts'

/** The state of a new or just resumed monitor. */
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
 * A stored state after a restart or takeover. Votes keep their age, so they end when they would have ended without the
 * restart. `knownFromMs`: the JetStream time from which all results are known; an older vote may have been renewed
 * before that time, and counts as renewed at it. null: all results are known.
 */
export function restoreState(stored: MonitorState, knownFromMs: number | null): MonitorState {
  return stored.restoredAtMs === knownFromMs ? stored : { ...stored, restoredAtMs: knownFromMs }
}

/**
 * The state under a newer configuration: status, region states and votes stay, regions that the monitor no longer uses
 * are removed, and streaks begin again if the target or the assertions changed. If the votes are no longer a quorum, it
 * is lost from now on, not from an earlier time.
 */
export function adoptConfig(state: MonitorState, policy: Policy, nowMs: number): MonitorState {
  if (state.configVersion >= policy.configVersion) return state
  const watched = state.cells.filter(cell => policy.regions.includes(cell.region))
  const cells = state.configVersion >= policy.streaksSince ? watched : watched.map(resetStreaks)
  const next = { ...state, configVersion: policy.configVersion, cells }
  const isHeld = !hasQuorumOfPresent(countVotes(next, policy, nowMs))
  return { ...next, quorumLostSinceMs: isHeld ? (state.quorumLostSinceMs ?? nowMs) : null }
}

/** `state` with the vote times of `newer` where they are later; both of the same monitor. */
export function mergeVoteTimes(state: MonitorState, newer: MonitorState): MonitorState {
  const newerAtMs = new Map(newer.cells.map(cell => [cell.region, cell.votedAtMs]))
  const cells = state.cells.map(cell => {
    const atMs = newerAtMs.get(cell.region) ?? null
    const isNewer = cell.votedAtMs !== null && atMs !== null && atMs > cell.votedAtMs
    return isNewer ? { ...cell, votedAtMs: atMs } : cell
  })
  return { ...state, cells }
}

/** `state` with one cell added, or replaced if the region has one. */
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

/** True if no streak grows: a new high-water mark, vote time or last result alone is not written again. */
function isSteadyTally(cell: RegionTally): boolean {
  return (
    cell.state === 'ok' && cell.failures === 0 && cell.notUp === 0 && cell.better === 0 && cell.secondOpinion === null
  )
}

/** True if the monitor is up with a quorum and all its regions are steady. */
export function isSteady(state: MonitorState): boolean {
  return state.status === 'up' && state.quorumLostSinceMs === null && state.cells.every(isSteadyTally)
}
