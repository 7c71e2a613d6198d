/** Where a monitor is checked. `left`: the regions that it had before, each with the time of the change in ms since 1970. */
export type CheckedRegions = { regions: readonly string[]; left: Readonly<Record<string, number>> }

/**
 * Whose a report about a monitor is: `own`: of one of its regions; `left`: of one that it had before, which is not an attack but
 * comes too late; `foreign`: of a region that never checked it.
 */
export type Standing = 'own' | 'left' | 'foreign'

/** A change reaches probes within seconds, and checks that are under way end within a minute. */
const HEARD_WITHIN_MS = 120_000

/** `scheduledAtMs`: of the check that the report is about. */
export function standingOf({ regions, left }: CheckedRegions, region: string, scheduledAtMs: number): Standing {
  if (regions.includes(region)) return 'own'
  const leftAtMs = left[region]
  if (leftAtMs === undefined) return 'foreign'
  return scheduledAtMs <= leftAtMs + HEARD_WITHIN_MS ? 'own' : 'left'
}
