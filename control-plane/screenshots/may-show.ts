import { ScreenshotKind } from '../../proto/gen/probe/v1/screenshot.ts'
import { type CheckedRegions, type Standing, standingOf } from '../monitors/checked-regions.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Arrival, Arrived } from './arrived.ts'
import { isPermitted } from './permit.ts'

/**
 * Whether a probe of the region `takenIn` may report this screenshot. A comparison decides about a monitor, so it counts from the
 * probes of its own region only; a failure of another region is shown where the control plane asked this probe for it.
 */
export function mayShow(
  monitor: CheckedRegions,
  { takenIn, arrivedAtMs }: Arrival,
  arrived: Arrived,
  secrets: Secrets,
): Standing {
  const { order, probeId } = arrived
  const isOwnRegion = order.region === takenIn
  const isAsked = order.kind === ScreenshotKind.FAILURE && isPermitted(order.permit, { probeId, order }, secrets)
  if (!isOwnRegion && !isAsked) return 'foreign'
  return standingOf(monitor, order.region, { scheduledAtMs: order.scheduledAtMs, arrivedAtMs })
}
