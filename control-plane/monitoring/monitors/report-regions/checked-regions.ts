/**
 * Where a monitor is checked. `left`: the regions that it had before, each with the time of the change in ms since 1970;
 * `any`: until then changes were not noted, and every region may have been the monitor's.
 */
export type CheckedRegions = { regions: readonly string[]; left: Readonly<Record<string, number>> }

/**
 * What a report about a monitor is: `own`: of one of its regions; `left`: of one that it had before, which is not an attack but
 * comes too late; `foreign`: of a region that never checked it.
 */
export type ReportEligibility = 'own' | 'left' | 'foreign'

/** A change reaches probes within seconds, and checks that are under way end within a minute. */
const MAX_CHANGE_PROPAGATION_MS = 120_000

/** How long a probe may keep results before it can send them; as long as they count after a change. */
const MAX_SPOOL_AGE_MS = 7 * 24 * 3_600_000

/**
 * What a report says and when it came: `scheduledAtMs` of its check comes from the probe, which may write any time there;
 * `arrivedAtMs` from JetStream.
 */
export type ReportTimes = { scheduledAtMs: number; arrivedAtMs: number }

export function classifyReport(
  { regions, left }: CheckedRegions,
  region: string,
  times: ReportTimes,
): ReportEligibility {
  if (regions.includes(region)) return 'own'
  const leftAtMs = left[region] ?? left.any
  if (leftAtMs === undefined) return 'foreign'
  const isOfBefore = times.scheduledAtMs <= leftAtMs + MAX_CHANGE_PROPAGATION_MS
  if (isOfBefore && times.arrivedAtMs <= leftAtMs + MAX_SPOOL_AGE_MS) return 'own'
  return region in left ? 'left' : 'foreign'
}
