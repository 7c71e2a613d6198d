import { fieldsOf, fieldsOfCreate } from '../monitors/fields.ts'
import { replacementOf } from '../monitors/replacement.ts'
import type { StoredMonitor } from '../monitors/types.ts'
import type { Secrets } from '../platform/secrets.ts'
import { validationError } from '../web/errors.ts'
import type { MonitorEntry } from './document.ts'
import { concise, differences, type FieldChange, newFields } from './fields.ts'
import { bodyOf, MONITOR_DEFAULTS, monitorFields, showMonitor, storedMonitorFields } from './monitor-fields.ts'
import type { ProjectState } from './state-reader.ts'

/** A monitor of the file that was not refused. */
export type PlannedMonitor = {
  entry: MonitorEntry
  place: string
  id: string
  /** null: it is new */
  stored: StoredMonitor | null
  /** null: the file says nothing of them */
  parentIds: string[] | null
}

/** What differs of a stored monitor. Throws 400 for masks with nothing behind them. */
export function monitorDifferences({ entry }: PlannedMonitor, stored: StoredMonitor, secrets: Secrets) {
  const { after, problems } = replacementOf(fieldsOf(stored, secrets), bodyOf(entry))
  if (problems.length > 0) throw validationError(problems)
  const isPaused = entry.is_paused ?? stored.isPaused
  return differences(storedMonitorFields(stored, secrets), monitorFields(after, isPaused), showMonitor)
}

/** All that the file says of a new monitor. */
export function newMonitorFields({ entry, parentIds }: PlannedMonitor): Record<string, FieldChange> {
  const fields = monitorFields(fieldsOfCreate(bodyOf(entry)), entry.is_paused ?? false)
  const said = concise(showMonitor(fields), MONITOR_DEFAULTS)
  return newFields(parentIds?.length ? { ...said, parents: entry.parents } : said)
}

/** Empty when its parents stay. */
export function parentDifference(state: ProjectState, plan: PlannedMonitor): Record<string, FieldChange> {
  if (!movesParents(state, plan)) return {}
  const from = (state.parents.get(plan.id) ?? []).map(id => state.names.monitors.get(id) ?? id)
  return { parents: { from, to: plan.entry.parents } }
}

export const movesParents = ({ parents }: ProjectState, { id, parentIds }: PlannedMonitor): boolean =>
  parentIds !== null && `${parents.get(id) ?? []}` !== `${parentIds}`
