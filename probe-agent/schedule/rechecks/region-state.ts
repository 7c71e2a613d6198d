import type { RegionState } from '../../../proto/gen/probe/v1/fleet.ts'
import type { Slots } from '../../../shared/checks/slots.ts'
import { SEVERITY_OF_STATE } from './recheck.ts'

/** The state of a monitor in this region, as known to the probe. */
export type KnownRegionState = {
  /** the newest state sent by the control plane */
  state: RegionState
  /** the conclusion of a later chain, by the monotonic clock; null: none, or its results did not count */
  concluded: { state: RegionState; atMs: number } | null
}

type KnownState = KnownRegionState & { slots: Pick<Slots, 'intervalMs'> }

/**
 * The state that a chain begins with. The probe's own conclusion is used for one interval, until the control plane could
 * confirm it: if its results did not count, a single attempt a slot would delay the next decision. A better conclusion is
 * used until the control plane sends another state, because a state that is too good does not delay decisions.
 */
export function resolveStartState({ state, concluded, slots }: KnownState, nowMs: number): RegionState {
  if (concluded === null) return state
  const isYoung = nowMs - concluded.atMs < slots.intervalMs
  return isYoung || SEVERITY_OF_STATE[concluded.state] < SEVERITY_OF_STATE[state] ? concluded.state : state
}
