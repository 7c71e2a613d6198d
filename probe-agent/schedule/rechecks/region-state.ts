import type { RegionState } from '../../../proto/gen/probe/v1/fleet.ts'
import type { Slots } from '../../../shared/checks/slots.ts'
import { SEVERITY_OF_STATE } from './recheck.ts'

/** The state of a monitor in this region, as far as the probe knows. */
export type KnownRegionState = {
  /** what the control plane said last */
  state: RegionState
  /** what a chain came to since, by the monotonic clock; null: nothing, or its results did not count */
  concluded: { state: RegionState; atMs: number } | null
}

type Known = KnownRegionState & { slots: Pick<Slots, 'intervalMs'> }

/**
 * The state that a chain begins with. A conclusion of the probe's own holds until the control plane has had time to
 * confirm it, for one interval: if its results never counted, a single attempt a slot would delay the next decision.
 * A conclusion that is better holds until the control plane says something else: only too good a state costs no time.
 */
export function resolveStartState({ state, concluded, slots }: Known, nowMs: number): RegionState {
  if (concluded === null) return state
  const isYoung = nowMs - concluded.atMs < slots.intervalMs
  return isYoung || SEVERITY_OF_STATE[concluded.state] < SEVERITY_OF_STATE[state] ? concluded.state : state
}
