import { RegionState } from '../proto/gen/probe/v1/fleet.ts'
import { Outcome } from '../shared/result.ts'

/** What follows an attempt: another one so long after its end, or the end of the chain; and what the region is then. */
export type Step = { recheckInMs: number | null; state: RegionState }

/** Waits after the end of the first, second, … attempt (decisions 4.2). */
const RECHECK_AFTER_MS = [1000, 3000, 5000, 5000, 5000]
const CONFIRM_BETTER_AFTER_MS = 5000

const SEVERITY_OF_STATE: Record<RegionState, number> = {
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
export function nextStep(state: RegionState, retryCount: number, outcomes: readonly Outcome[]): Step {
  const end: Step = { recheckInMs: null, state }
  const counting = outcomes.filter(outcome => outcome !== Outcome.UNKNOWN)
  const recheckInMs = RECHECK_AFTER_MS[outcomes.length - 1] ?? RECHECK_AFTER_MS.at(-1)!

  if (outcomes.at(-1) === Outcome.UNKNOWN) {
    const isFirst = outcomes.length - counting.length === 1
    return isFirst && retryCount > 0 ? { recheckInMs, state } : end
  }

  const current = SEVERITY_OF_STATE[state]
  const severities = counting.map(severityOf)
  const direction = Math.sign(severities.at(-1)! - current)
  if (direction === 0) return { recheckInMs: null, state: STATE_OF_SEVERITY[current]! }

  const streak = tail(severities, severity => Math.sign(severity - current) === direction)
  const isWorse = direction > 0
  if (streak.length >= streakToChange(isWorse, retryCount)) {
    const settled = isWorse ? Math.min(...streak) : Math.max(...streak)
    return { recheckInMs: null, state: STATE_OF_SEVERITY[settled]! }
  }
  if (counting.length >= attemptsAtMost(retryCount)) return end
  return { recheckInMs: isWorse ? recheckInMs : CONFIRM_BETTER_AFTER_MS, state }
}

/** How many in a row change a region: `retryCount + 1` for the worse, 2 for the better, 1 when nothing is re-checked. */
function streakToChange(isWorse: boolean, retryCount: number): number {
  if (isWorse) return retryCount + 1
  return retryCount === 0 ? 1 : 2
}

/** A target that answers differently each time must not keep a chain alive for ever. */
function attemptsAtMost(retryCount: number): number {
  return retryCount === 0 ? 1 : Math.max(retryCount + 1, 2)
}

function severityOf(outcome: Outcome): number {
  if (outcome === Outcome.DOWN) return 2
  return outcome === Outcome.DEGRADED ? 1 : 0
}

/** The longest end of a list of which every item passes. */
function tail<T>(items: readonly T[], passes: (item: T) => boolean): T[] {
  const last = items.findLastIndex(item => !passes(item))
  return items.slice(last + 1)
}
