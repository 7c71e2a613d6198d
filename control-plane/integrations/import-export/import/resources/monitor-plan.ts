import type { SecretCipher } from '../../../../foundation/platform/crypto/encryption.ts'
import { validationError } from '../../../../foundation/web/server/errors.ts'
import { decryptFields, toCreatedFields } from '../../../../monitoring/monitors/settings/fields.ts'
import { buildReplacement } from '../../../../monitoring/monitors/settings/replacement.ts'
import type { StoredMonitor } from '../../../../monitoring/monitors/types.ts'
import { describeNewFields, diffFields, type FieldChange, omitDefaults } from '../../fields/fields.ts'
import {
  MONITOR_DEFAULTS,
  maskMonitorFields,
  toMonitorBody,
  toMonitorFields,
  toStoredMonitorFields,
} from '../../fields/monitor-fields.ts'
import type { MonitorEntry } from '../../file/project-file.ts'
import type { ProjectState } from '../../project-reader.ts'

/** A monitor of the file that was not refused. */
export type PlannedMonitor = {
  entry: MonitorEntry
  place: string
  id: string
  /** null: a new monitor */
  stored: StoredMonitor | null
  /** null: the file has no parents */
  parentIds: string[] | null
}

/** Returns the changes of a stored monitor. Throws 400 for masks without a stored secret. */
export function diffMonitor({ entry }: PlannedMonitor, stored: StoredMonitor, secrets: SecretCipher) {
  const { after, problems } = buildReplacement(decryptFields(stored, secrets), toMonitorBody(entry))
  if (problems.length > 0) throw validationError(problems)
  const isPaused = entry.is_paused ?? stored.isPaused
  return diffFields(toStoredMonitorFields(stored, secrets), toMonitorFields(after, isPaused), maskMonitorFields)
}

/** Returns the fields of a new monitor as changes. */
export function describeNewMonitor({ entry, parentIds }: PlannedMonitor): Record<string, FieldChange> {
  const fields = toMonitorFields(toCreatedFields(toMonitorBody(entry)), entry.is_paused ?? false)
  const created = omitDefaults(maskMonitorFields(fields), MONITOR_DEFAULTS)
  return describeNewFields(parentIds?.length ? { ...created, parents: entry.parents } : created)
}

/** Returns the change of parents; empty when they do not change. */
export function diffParents(state: ProjectState, plan: PlannedMonitor): Record<string, FieldChange> {
  if (!changesParents(state, plan)) return {}
  const from = (state.parents.get(plan.id) ?? []).map(id => state.names.monitors.get(id) ?? id)
  return { parents: { from, to: plan.entry.parents } }
}

export const changesParents = ({ parents }: ProjectState, { id, parentIds }: PlannedMonitor): boolean =>
  parentIds !== null && `${parents.get(id) ?? []}` !== `${parentIds}`
