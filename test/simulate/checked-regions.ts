import type { CheckedRegions } from '../../control-plane/monitoring/monitors/report-regions/checked-regions.ts'
import type { Database, MonitorRow } from './database.ts'
import type { Host } from './time.ts'

const REFRESH_EVERY_MS = 60_000
const NOTIFIED_AFTER_MS = 5

/** The regions of monitors as one process knows them, like `createCheckedRegionsCache`. */
export function followCheckedRegions(host: Host, database: Database) {
  const known = new Map<string, CheckedRegions>()
  let revision = 0
  let timeline: number | null = null

  async function refresh(): Promise<void> {
    const now = database.timeline()
    if (timeline !== now) {
      known.clear()
      revision = 0
    }
    for (const { id, settings, leftRegions, ...row } of database.changedSince(revision)) {
      known.set(id, { regions: [...settings.regions], left: leftRegions })
      revision = row.revision
    }
    timeline = now
  }

  const refreshSoon = () => void refresh().catch(() => {})
  database.onMonitors(() => {
    host.machine.after(NOTIFIED_AFTER_MS, refreshSoon)
    return host.isAlive()
  })
  host.machine.every(REFRESH_EVERY_MS, refreshSoon)
  return { of: (id: string) => known.get(id), refresh, isKnown: () => timeline !== null }
}

/** When a monitor left its former regions, like the trigger of `monitors`. */
export function listLeftRegions(
  before: MonitorRow | undefined,
  regions: readonly string[],
  nowMs: number,
): Record<string, number> {
  const left = { ...before?.leftRegions }
  for (const region of before?.settings.regions ?? []) left[region] = nowMs
  for (const region of regions) delete left[region]
  return left
}
