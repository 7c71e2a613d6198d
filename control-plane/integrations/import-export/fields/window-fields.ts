import { WindowCreate } from '../../../verdict/maintenance/schemas.ts'
import type { MaintenanceWindow } from '../../../verdict/maintenance/types.ts'
import type { WindowEntry } from '../file/project-file.ts'
import { pick, type RecordFields, toSnakeKeys } from './fields.ts'

const { monitor_ids, ...ofItself } = WindowCreate.properties
const TIMES = ['starts_at', 'ends_at']
const UNSET = Object.fromEntries(Object.keys(ofItself).map(key => [key, null]))

/** A window in the names of the file, but for its monitors, which are ids in their order. */
export const toStoredWindowFields = (window: MaintenanceWindow): RecordFields =>
  normalizeFields({ ...toSnakeKeys(window), monitors: window.monitorIds })

/** `monitorIds`: what its references mean. */
export const toWindowFields = (entry: WindowEntry, monitorIds: string[]): RecordFields =>
  normalizeFields({ ...UNSET, ...entry, monitors: monitorIds })

/** Times and crons that mean the same read the same. */
function normalizeFields(fields: RecordFields): RecordFields {
  const times = TIMES.map(key => [key, fields[key] == null ? null : new Date(fields[key] as string).toISOString()])
  const cron = typeof fields.cron === 'string' ? fields.cron.trim().replace(/\s+/g, ' ') : null
  const monitors = [...new Set(fields.monitors as string[])].sort()
  return { ...pick(fields, ofItself), ...Object.fromEntries(times), cron, monitors }
}

/** A window's body for the API. */
export const toWindowBody = (entry: WindowEntry, monitorIds: string[]) =>
  ({ ...UNSET, ...pick(entry, ofItself), monitor_ids: monitorIds }) as WindowCreate

/** With its monitors as the file names them. */
export const createWindowDisplay =
  (names: ReadonlyMap<string, string>) =>
  (fields: RecordFields): RecordFields => ({
    ...fields,
    monitors: (fields.monitors as string[]).map(id => names.get(id) ?? id).sort(),
  })
