/**
 * Where a monitor is checked. `left`: its former regions, each with the time of the change in ms since 1970. The key
 * `any` has the time until which changes were not recorded, so that every region may have been one of the monitor's.
 */
export type CheckedRegions = { regions: readonly string[]; left: Readonly<Record<string, number>> }

/**
 * Whether a report about a monitor is accepted (docs/design/monitors.md#report-regions). `own`: from one of its regions.
 * `left`: from a former region, too late, but not an attack. `foreign`: from a region that never checked the monitor.
 */
export type ReportEligibility = 'own' | 'left' | 'foreign'

/** A change reaches probes within seconds, and running checks end within a minute. */
const MAX_CHANGE_PROPAGATION_MS = 120_000

/** How long after a change spooled results of a former region are accepted. */
const MAX_SPOOL_AGE_MS = 7 * 24 * 3_600_000

/** `scheduledAtMs` of the check is set by the probe, which may send any value. `arrivedAtMs` is JetStream's time. */
type ReportTimes = { scheduledAtMs: number; arrivedAtMs: number }

export function classifyReport(
  { regions, left }: CheckedRegions,
  region: string,
  times: ReportTimes,
): ReportEligibility {
  if (regions.includes(region)) return 'own'
  const leftAtMs = left[region] ?? left.any
  if (leftAtMs === undefined) return 'foreign'
  const wasScheduledBefore = times.scheduledAtMs <= leftAtMs + MAX_CHANGE_PROPAGATION_MS
  if (wasScheduledBefore && times.arrivedAtMs <= leftAtMs + MAX_SPOOL_AGE_MS) return 'own'
  return region in left ? 'left' : 'foreign'
}
