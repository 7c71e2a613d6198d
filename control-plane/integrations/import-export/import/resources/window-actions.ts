import { changeWindow, createWindow } from '../../../../verdict/maintenance/actions.ts'
import { findNextPeriod, findPeriodAt } from '../../../../verdict/maintenance/schedule.ts'
import type { MaintenanceWindow } from '../../../../verdict/maintenance/types.ts'
import { describeNewFields, diffFields, omitDefaults } from '../../fields/fields.ts'
import {
  createWindowDisplay,
  isInExport,
  toStoredWindowFields,
  toWindowBody,
  toWindowFields,
} from '../../fields/window-fields.ts'
import type { WindowEntry } from '../../file/project-file.ts'
import type { ResolveReference } from '../../file/references.ts'
import { attempt, recordUpdate } from '../import-report.ts'
import type { ImportRun } from '../import-run.ts'
import { listUnmatched, type MatchKey, matchEntries } from '../matching.ts'

const RESOURCE = 'maintenance_window'

/**
 * Imports maintenance windows. Monitors that were refused or do not exist yet are left out with a warning. Returns the
 * windows that the file does not name and that have not ended.
 */
export async function importWindows(run: ImportRun, findMonitor: ResolveReference): Promise<MaintenanceWindow[]> {
  const { file, state, report, now } = run
  const entries = file.maintenance_windows ?? []
  const ended = new Set(state.windows.filter(window => hasWindowEnded(window, now)))
  const found = matchEntries(entries, state.windows, ...createWindowKeys(ended, now))
  for (const [index, entry] of entries.entries()) {
    const place = `maintenance_windows[${index}]`
    await attempt(report, place, async () => {
      const references = entry.monitors.map((name, i) => ({ name, id: findMonitor(name, `monitors[${i}]`) }))
      const known = references.flatMap(({ name, id }) => (id === null ? [] : [{ name, id }]))
      const missing = references.filter(({ id }) => id === null).map(({ name }) => name)
      if (missing.length > 0) {
        const message = describeMissing(entry.title, missing, known.length === 0)
        report.warnings.push({ path: place, message })
      }
      if (known.length === 0) return
      const monitors = known.map(({ name }) => name)
      const monitorIds = known.map(({ id }) => id)
      await importWindow(run, { ...entry, monitors }, monitorIds, found[index] ?? null, place)
    })
  }
  if (!file.maintenance_windows) return []
  // an entry that is over may be a window that a person has moved to a later time: the file does not say that it has to go
  const moved = new Set(entries.filter((entry, i) => found[i] === null && isPast(entry, now)).map(({ title }) => title))
  return listUnmatched(state.windows, found).filter(
    window => !ended.has(window) && !moved.has(window.title) && isInExport(window),
  )
}

/**
 * The keys of windows, all with the title: the begin, first among windows that are over like the entry; then the cron
 * expression, and then the title alone, between entries and windows that are not over. So an entry never moves a window
 * that has ended to another time.
 */
function createWindowKeys(
  ended: ReadonlySet<MaintenanceWindow>,
  now: Date,
): MatchKey<WindowEntry, MaintenanceWindow>[] {
  const joinKey = (...parts: unknown[]) => JSON.stringify(parts)
  const beginOfEntry = ({ cron, starts_at }: WindowEntry) => [toCron(cron), toTime(starts_at)]
  const beginOfRow = ({ cron, startsAt }: MaintenanceWindow) => [toCron(cron), toTime(startsAt)]
  /** matches between entries and windows that are not over */
  const openKey = (
    getParts: (one: { title: string; cron?: string | null }) => unknown[],
  ): MatchKey<WindowEntry, MaintenanceWindow> => ({
    ofEntry: entry => (isPast(entry, now) ? 'an entry that is over' : joinKey(...getParts(entry))),
    ofRow: row => (ended.has(row) ? 'a window that is over' : joinKey(...getParts(row))),
  })
  return [
    {
      ofEntry: entry => joinKey(entry.title, beginOfEntry(entry), isPast(entry, now)),
      ofRow: row => joinKey(row.title, beginOfRow(row), ended.has(row)),
    },
    {
      ofEntry: entry => joinKey(entry.title, beginOfEntry(entry)),
      ofRow: row => joinKey(row.title, beginOfRow(row)),
    },
    openKey(({ title, cron }) => [title, toCron(cron)]),
    openKey(({ title }) => [title]),
  ]
}

const toCron = (cron: string | null | undefined) => cron?.trim().replace(/\s+/g, ' ') ?? null
const toTime = (time: Date | string | null | undefined) => (time == null ? null : new Date(time).getTime())

function describeMissing(title: string, missing: string[], isLeftOut: boolean): string {
  const names = missing.join(', ')
  return isLeftOut
    ? `the maintenance window "${title}" was left out, because none of its monitors exists: ${names}`
    : `monitors that do not exist were left out of the maintenance window "${title}": ${names}`
}

/** Whether a window has ended. Such windows are neither exported nor created. */
export const hasWindowEnded = (window: MaintenanceWindow, now: Date): boolean =>
  findPeriodAt(window, now) === null && findNextPeriod(window, now) === null

async function importWindow(
  run: ImportRun,
  entry: WindowEntry,
  monitorIds: string[],
  stored: MaintenanceWindow | null,
  place: string,
) {
  const { tools, caller, report, now } = run
  const after = toWindowFields(entry, monitorIds, stored)
  const body = toWindowBody(entry, monitorIds, stored)
  if (stored === null) {
    if (isPast(entry, now)) {
      report.warnings.push({
        path: place,
        message: `the maintenance window "${entry.title}" has ended; it was not created`,
      })
      return
    }
    await createWindow(tools, caller.projectId, body, now)
    const fields = describeNewFields(omitDefaults({ ...after, monitors: entry.monitors }, {}))
    report.changes.push({ action: 'create', resource: RESOURCE, key: entry.title, id: null, fields })
    return
  }
  const fields = diffFields(toStoredWindowFields(stored), after, createWindowDisplay(run.state.names.monitors))
  if (!recordUpdate(report, { resource: RESOURCE, key: entry.title, id: stored.id, fields })) return
  // unchanged fields are omitted, because sending the times again would restart a running period
  const changed = Object.keys(fields).map(key => (key === 'monitors' ? 'monitor_ids' : key))
  await changeWindow(tools, caller.projectId, stored.id, pickKeys(body, changed), now)
}

const pickKeys = <T extends object>(body: T, keys: string[]) =>
  Object.fromEntries(Object.entries(body).filter(([key]) => keys.includes(key))) as Partial<T>

const isPast = ({ ends_at }: WindowEntry, now: Date) => ends_at != null && new Date(ends_at) <= now
