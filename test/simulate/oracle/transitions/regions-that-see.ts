import type { RecordedFault, SettingsPeriod, TargetOutage } from '../chronicle.ts'
import { HARMLESS, LINGERS_MS } from '../faults-under-way.ts'

/** The regions of a monitor that see an outage. */
export const listSeeing = ({ regions: seen }: TargetOutage, { regions }: Pick<SettingsPeriod, 'regions'>) =>
  seen ? regions.filter(region => seen.includes(region)) : regions

/** Whether more than half of the regions of a monitor see an outage. */
export const isSeenByMost = (outage: TargetOutage, settings: Pick<SettingsPeriod, 'regions'>): boolean =>
  listSeeing(outage, settings).length * 2 > settings.regions.length

/**
 * Whether an outage may make a monitor down: most of its regions see it, or a fault silences regions that do not. `atMs`: when it
 * was down. `heldMs`: how long the transition may have waited. A first verdict needs no more votes than a quorum.
 */
export function mayMakeDown(
  outage: TargetOutage,
  settings: readonly SettingsPeriod[],
  faults: readonly RecordedFault[],
  { atMs, heldMs, isFirst }: { atMs: number; heldMs: number; isFirst: boolean },
): boolean {
  const isInUse = (_: SettingsPeriod, i: number) =>
    settings[i]!.fromMs <= atMs && (settings[i + 1]?.fromMs ?? Infinity) > outage.fromMs
  const known = settings.filter(isInUse)
  if (known.some(one => isSeenByMost(outage, one))) return true
  const isOfQuorum = ({ regions }: SettingsPeriod, seeing: number) => seeing * 2 > Math.floor(regions.length / 2) + 1
  if (isFirst && known.some(one => isOfQuorum(one, listSeeing(outage, one).length))) return true
  if (!known.some(one => listSeeing(outage, one).length > 0)) return false
  const concernsOthers = (region: string | null) =>
    region === null || known.some(one => !listSeeing(outage, one).includes(region))
  return faults.some(
    ({ kind, region, toMs }) => !HARMLESS.test(kind) && concernsOthers(region) && toMs >= atMs - heldMs - LINGERS_MS,
  )
}
