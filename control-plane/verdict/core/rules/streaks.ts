import { Outcome } from '../../../../proto/gen/probe/v1/result.ts'
import { isVoteHeld, resetDoubt } from '../confirmation/held-vote.ts'
import type { RegionState, RegionTally, VerdictResult } from '../types.ts'

/** How many failures in a row make a region failing. */
export const getFailureThreshold = (retryCount: number) => retryCount + 1

/** How many better results in a row end failing or degraded. */
export const getRecoveryThreshold = (retryCount: number) => (retryCount === 0 ? 1 : 2)

export function isCounting(outcome: Outcome): boolean {
  return outcome === Outcome.UP || outcome === Outcome.DOWN || outcome === Outcome.DEGRADED
}

/** The cell of a region before its first result, `result`. */
export function createRegionTally(result: VerdictResult): RegionTally {
  return {
    region: result.region,
    state: 'pending',
    failures: 0,
    notUp: 0,
    better: 0,
    fence: { configVersion: 0, epoch: 0, scheduledAtMs: 0, attempt: 0 },
    votedAtMs: null,
    firstFailure: null,
    last: null,
    secondOpinion: null,
  }
}

/** Moves the high-water mark only: the result neither extends nor breaks a streak. */
export function skipResult(cell: RegionTally, result: VerdictResult): RegionTally {
  return { ...cell, fence: result }
}

/** The cell after one counting result that is in order. The result itself serves as the high-water mark. */
export function advanceStreaks(
  cell: RegionTally,
  result: VerdictResult,
  retryCount: number,
  nowMs: number,
): RegionTally {
  const failed = result.outcome === Outcome.DOWN
  const failures = failed ? cell.failures + 1 : 0
  const notUp = result.outcome === Outcome.UP ? 0 : cell.notUp + 1
  const better = countBetter(cell, result.outcome)
  const state = computeState(cell.state, { failures, notUp, better }, retryCount)
  const grows = state === 'failing' || failures > 0
  return {
    // the interned copy of the name
    region: result.region,
    state,
    failures,
    notUp,
    better: state === cell.state ? better : 0,
    fence: result,
    votedAtMs: nowMs,
    firstFailure: grows ? (cell.firstFailure ?? { atMs: nowMs, scheduledAtMs: result.scheduledAtMs }) : null,
    last: result,
    secondOpinion: state === 'failing' || failures === 0 ? null : cell.secondOpinion,
  }
}

/**
 * After a change of the target or the assertions: streaks begin again, state and vote stay. A region without a vote
 * because of a doubt decides like a new one.
 */
export function resetStreaks(cell: RegionTally): RegionTally {
  if (isVoteHeld(cell)) return resetStreaks({ ...cell, state: 'pending' })
  const firstFailure = cell.state === 'failing' ? cell.firstFailure : null
  const { doubt: _, ...rest } = cell
  return { ...rest, failures: 0, notUp: 0, better: 0, firstFailure, secondOpinion: null, ...resetDoubt(cell) }
}

/** Whether a verdict could change if a restart lost the change from `before` to `after`. */
export function differsForVerdict(before: RegionTally, after: RegionTally, retryCount: number): boolean {
  const enough = getFailureThreshold(retryCount)
  return (
    before.state !== after.state ||
    Math.min(before.failures, enough) !== Math.min(after.failures, enough) ||
    Math.min(before.notUp, enough) !== Math.min(after.notUp, enough) ||
    before.better !== after.better ||
    before.secondOpinion !== after.secondOpinion
  )
}

function countBetter(cell: RegionTally, outcome: Outcome): number {
  if (cell.state === 'failing') return outcome === Outcome.DOWN ? 0 : cell.better + 1
  if (cell.state === 'degraded') return outcome === Outcome.UP ? cell.better + 1 : 0
  return 0
}

type Streaks = { failures: number; notUp: number; better: number }

function computeState(state: RegionState, { failures, notUp, better }: Streaks, retryCount: number): RegionState {
  const enough = getFailureThreshold(retryCount)
  const notUpState = notUp >= enough ? 'degraded' : 'ok'
  if (state === 'failing') return better >= getRecoveryThreshold(retryCount) ? notUpState : 'failing'
  if (failures >= enough) return 'failing'
  if (state === 'degraded') return better >= getRecoveryThreshold(retryCount) ? 'ok' : 'degraded'
  if (state === 'pending' && notUp > 0 && notUp < enough) return 'pending'
  return notUpState
}
