import { RegionState } from '../../../proto/gen/probe/v1/fleet.ts'
import { getRecheckDelayMs } from '../../../shared/checks/rechecks.ts'
import { Outcome } from '../../../shared/checks/result.ts'

/** What follows an attempt: another one so long after its end, or the end of the chain; and what the region is then. */
export type NextAttempt = { recheckInMs: number | null; state: RegionState }

const CONFIRM_BETTER_DELAY_MS = 5000

export const SEVERITY_OF_STATE: Record<RegionState, number> = {
  [RegionState.PENDING]: 0,
  [RegionState.OK]: 0,
  [RegionState.DEGRADED]: 1,
  [RegionState.FAILING]: 2,
}
const STATE_OF_SEVERITY = [RegionState.OK, RegionState.DEGRADED, RegionState.FAILING] as const

/**
 * Decides after each attempt of a chain (decisions 4.2). A chain is a slot and its re-checks; `state` is the region's when
 * it began, `outcomes` are all its attempts so far, the latest last.
 *
 * An attempt like the state ends the chain: nothing to confirm, so an outage costs one attempt a slot. Worse ones are
 * confirmed `retryCount` times, better ones once, after 5 s. An attempt that was our own fault (UNKNOWN) is made again,
 * once a chain, and counts for nothing.
 */
export function decideNextAttempt(state: RegionState, retryCount: number, outcomes: readonly Outcome[]): NextAttempt {
  const end: NextAttempt = { recheckInMs: null, state }
  const counting = outcomes.filter(outcome => outcome !== Outcome.UNKNOWN)
  const recheckInMs = getRecheckDelayMs(outcomes.length)

  if (outcomes.at(-1) === Outcome.UNKNOWN) {
    const isFirst = outcomes.length - counting.length === 1
    return isFirst && retryCount > 0 ? { recheckInMs, state } : end
  }

  const current = SEVERITY_OF_STATE[state]
  const severities = counting.map(toSeverity)
  const direction = Math.sign(severities.at(-1)! - current)
  if (direction === 0) return { recheckInMs: null, state: STATE_OF_SEVERITY[current]! }

  const streak = takeTrailing(severities, severity => Math.sign(severity - current) === direction)
  const isWorse = direction > 0
  if (streak.length >= streakToChange(isWorse, retryCount)) {
    const settled = isWorse ? Math.min(...streak) : Math.max(...streak)
    return { recheckInMs: null, state: STATE_OF_SEVERITY[settled]! }
  }
  if (counting.length >= computeMaxAttempts(retryCount)) return end
  return { recheckInMs: isWorse ? recheckInMs : CONFIRM_BETTER_DELAY_MS, state }
}

/**
 * Where a chain is whose attempts may overlap. `settled`: so many attempts, counted from the first, are final and can be
 * published in their order. What follows:
 * - `over`: the chain has ended, and so is the region then; attempts still under way are cancelled.
 * - `silent`: the next attempt starts when the latest one has been silent for the silence limit.
 * - `recheck`: the next attempt starts so long after the end of the latest one.
 * - `decided`: no attempt under way can change the region; each may end until the next slot is due.
 * - `waiting`: no attempt may start until one under way has ended.
 */
export type RecheckProgress = { settled: number } & (
  | { kind: 'over'; state: RegionState }
  | { kind: 'recheck'; inMs: number }
  | { kind: 'silent' | 'decided' | 'waiting' }
)

/**
 * Decides after each start and each end of an attempt. `outcomes`: of all attempts in their order, null while one is under
 * way. An attempt counts only with its outcome, so a target that does not answer is failing after `retryCount + 1`
 * attempts with the whole timeout each. Until then it is taken for a failure, but only to decide whether another attempt
 * is needed.
 */
export function computeProgress(
  state: RegionState,
  retryCount: number,
  outcomes: readonly (Outcome | null)[],
): RecheckProgress {
  const final: Outcome[] = []
  for (const outcome of outcomes) {
    if (outcome === null) break
    final.push(outcome)
    const step = decideNextAttempt(state, retryCount, final)
    if (step.recheckInMs === null) return { kind: 'over', settled: final.length, state: step.state }
  }
  const settled = final.length
  const { recheckInMs } = decideNextAttempt(
    state,
    retryCount,
    outcomes.map(outcome => outcome ?? Outcome.DOWN),
  )
  if (recheckInMs === null)
    return { kind: resolveEndState(state, retryCount, outcomes) === null ? 'waiting' : 'decided', settled }
  return outcomes.at(-1) === null ? { kind: 'silent', settled } : { kind: 'recheck', settled, inMs: recheckInMs }
}

/** What the region is when the attempts under way are cancelled; null when the others do not end the chain. */
export function resolveEndState(
  state: RegionState,
  retryCount: number,
  outcomes: readonly (Outcome | null)[],
): RegionState | null {
  const ended = outcomes.filter(outcome => outcome !== null)
  if (ended.length === 0) return null
  const step = decideNextAttempt(state, retryCount, ended)
  return step.recheckInMs === null ? step.state : null
}

/** How many in a row change a region: `retryCount + 1` for the worse, 2 for the better, 1 when nothing is re-checked. */
function streakToChange(isWorse: boolean, retryCount: number): number {
  if (isWorse) return retryCount + 1
  return retryCount === 0 ? 1 : 2
}

/** A target that answers differently each time must not keep a chain alive for ever. */
function computeMaxAttempts(retryCount: number): number {
  return retryCount === 0 ? 1 : Math.max(retryCount + 1, 2)
}

function toSeverity(outcome: Outcome): number {
  if (outcome === Outcome.DOWN) return 2
  return outcome === Outcome.DEGRADED ? 1 : 0
}

/** The longest end of a list of which every item passes. */
function takeTrailing<T>(items: readonly T[], passes: (item: T) => boolean): T[] {
  const last = items.findLastIndex(item => !passes(item))
  return items.slice(last + 1)
}
