import { RegionState } from '../../../proto/gen/probe/v1/fleet.ts'
import { CONFIRM_BETTER_DELAY_MS, getRecheckDelayMs } from '../../../shared/checks/rechecks.ts'
import { Outcome } from '../../../shared/checks/result.ts'

/** What follows an attempt: another one after `recheckInMs`, or (null) the end of the chain; and the region's state then. */
type NextAttempt = { recheckInMs: number | null; state: RegionState }

export const SEVERITY_OF_STATE: Record<RegionState, number> = {
  [RegionState.PENDING]: 0,
  [RegionState.OK]: 0,
  [RegionState.DEGRADED]: 1,
  [RegionState.FAILING]: 2,
}
const STATE_OF_SEVERITY = [RegionState.OK, RegionState.DEGRADED, RegionState.FAILING] as const

/**
 * Decides after each attempt of a chain (docs/design/probes.md#attempts). `state`: the region's state when the chain began.
 * `outcomes`: all attempts so far, the latest last.
 *
 * An attempt that agrees with the state ends the chain, so an outage costs one attempt a slot. Worse attempts are confirmed
 * `retryCount` times, better ones once, after 5 s. An UNKNOWN attempt is repeated once per chain and does not count.
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
 * The progress of a chain whose attempts may overlap. `settled`: the number of attempts, counted from the first, that are
 * final and can be published. What follows:
 * - `over`: the chain has ended with `state`; attempts in flight are cancelled.
 * - `silent`: the next attempt starts when the latest one reaches the silence limit.
 * - `recheck`: the next attempt starts `inMs` after the end of the latest one.
 * - `waiting`: no attempt may start until one in flight has ended.
 */
export type RecheckProgress = { settled: number } & (
  | { kind: 'over'; state: RegionState }
  | { kind: 'recheck'; inMs: number }
  | { kind: 'silent' | 'waiting' }
)

/**
 * Decides after each start and each end of an attempt. `before`: the region's state when the chain began. `outcomes`: all
 * attempts in their order, null while in flight. An attempt counts only with its outcome, so a target that does not answer
 * is failing after `retryCount + 1` attempts with the full timeout each. Until then an attempt in flight is assumed to fail,
 * only to decide whether another one is needed.
 */
export function computeProgress(
  before: RegionState,
  retryCount: number,
  outcomes: readonly (Outcome | null)[],
): RecheckProgress {
  const final: Outcome[] = []
  for (const outcome of outcomes) {
    if (outcome === null) break
    final.push(outcome)
    const step = decideNextAttempt(before, retryCount, final)
    if (step.recheckInMs === null) return { kind: 'over', settled: final.length, state: step.state }
  }
  const settled = final.length
  const { recheckInMs } = decideNextAttempt(
    before,
    retryCount,
    outcomes.map(outcome => outcome ?? Outcome.DOWN),
  )
  if (recheckInMs === null) {
    const state = resolveEndState(before, retryCount, outcomes)
    return state === null ? { kind: 'waiting', settled } : { kind: 'over', settled: outcomes.length, state }
  }
  return outcomes.at(-1) === null ? { kind: 'silent', settled } : { kind: 'recheck', settled, inMs: recheckInMs }
}

/**
 * The region's state if an attempt ends the chain while earlier ones are in flight, as a success does; null if none does.
 * UNKNOWN attempts end no chain here: they contain no information about the target, the attempts in flight may.
 */
function resolveEndState(
  state: RegionState,
  retryCount: number,
  outcomes: readonly (Outcome | null)[],
): RegionState | null {
  const ended = outcomes.filter(outcome => outcome !== null)
  if (ended.length === 0 || ended.at(-1) === Outcome.UNKNOWN) return null
  const step = decideNextAttempt(state, retryCount, ended)
  return step.recheckInMs === null ? step.state : null
}

/** How many attempts in a row change the state: `retryCount + 1` for worse, 2 for better, 1 without re-checks. */
function streakToChange(isWorse: boolean, retryCount: number): number {
  if (isWorse) return retryCount + 1
  return retryCount === 0 ? 1 : 2
}

/** Limits a chain whose target answers differently each time. */
function computeMaxAttempts(retryCount: number): number {
  return retryCount === 0 ? 1 : Math.max(retryCount + 1, 2)
}

function toSeverity(outcome: Outcome): number {
  if (outcome === Outcome.DOWN) return 2
  return outcome === Outcome.DEGRADED ? 1 : 0
}

/** The longest tail of a list in which every item passes. */
function takeTrailing<T>(items: readonly T[], passes: (item: T) => boolean): T[] {
  const last = items.findLastIndex(item => !passes(item))
  return items.slice(last + 1)
}
