import { changeWindow, createWindow } from '../maintenance/actions.ts'
import { nextPeriod, periodAt } from '../maintenance/schedule.ts'
import type { Window } from '../maintenance/types.ts'
import type { WindowEntry } from './document.ts'
import { concise, differences, newFields } from './fields.ts'
import { attempt, noteUpdate } from './ledger.ts'
import type { Find } from './names.ts'
import { pairs, sameText, unpaired } from './pairs.ts'
import type { Run } from './run.ts'
import { showWindow, storedWindowFields, windowBodyOf, windowFields } from './window-fields.ts'

const RESOURCE = 'maintenance_window'

/** The maintenance windows of the file. Answers those that it does not name and that are not over. */
export async function importWindows(run: Run, findMonitor: Find): Promise<Window[]> {
  const { file, state, ledger, now } = run
  const entries = file.maintenance_windows ?? []
  const found = pairs(entries, state.windows, sameText('title'))
  for (const [index, entry] of entries.entries()) {
    const place = `maintenance_windows[${index}]`
    await attempt(ledger, place, async () => {
      const ids = entry.monitors.map((name, i) => findMonitor(name, `monitors[${i}]`))
      if (ids.some(id => id === null)) return
      await importWindow(run, entry, ids as string[], found[index] ?? null, place)
    })
  }
  return file.maintenance_windows ? unpaired(state.windows, found).filter(window => !isOver(window, now)) : []
}

/** What is over is history: it is neither exported nor made again. */
export const isOver = (window: Window, now: Date): boolean =>
  periodAt(window, now) === null && nextPeriod(window, now) === null

async function importWindow(run: Run, entry: WindowEntry, monitorIds: string[], stored: Window | null, place: string) {
  const { tools, caller, ledger, now } = run
  const after = windowFields(entry, monitorIds)
  const body = windowBodyOf(entry, monitorIds)
  if (stored === null) {
    if (isPast(entry, now)) {
      ledger.warnings.push({ path: place, message: `the maintenance window "${entry.title}" is over; it was not made` })
      return
    }
    await createWindow(tools, caller.projectId, body, now)
    const fields = newFields(concise({ ...after, monitors: entry.monitors }, {}))
    ledger.changes.push({ action: 'create', resource: RESOURCE, key: entry.title, id: null, fields })
    return
  }
  const fields = differences(storedWindowFields(stored), after, showWindow(run.state.names.monitors))
  if (!noteUpdate(ledger, { resource: RESOURCE, key: entry.title, id: stored.id, fields })) return
  // what did not change is left out: naming the times anew would begin a period that runs again
  const changed = Object.keys(fields).map(key => (key === 'monitors' ? 'monitor_ids' : key))
  await changeWindow(tools, caller.projectId, stored.id, partOf(body, changed), now)
}

const partOf = <T extends object>(body: T, keys: string[]) =>
  Object.fromEntries(Object.entries(body).filter(([key]) => keys.includes(key))) as Partial<T>

const isPast = ({ ends_at }: WindowEntry, now: Date) => ends_at != null && new Date(ends_at) <= now
