import { DEFAULT_ANNOUNCE_MINUTES, notifiesByDefault } from '../../../verdict/maintenance/limits.ts'
import { WindowCreate } from '../../../verdict/maintenance/schemas.ts'
import type { MaintenanceWindow } from '../../../verdict/maintenance/types.ts'
import type { WindowEntry } from '../file/project-file.ts'
import { pick, type RecordFields, toSnakeKeys } from './fields.ts'

const { monitor_ids, ...ofItself } = WindowCreate.properties
const TIMES = ['starts_at', 'ends_at']
const UNSET = Object.fromEntries(Object.keys(ofItself).map(key => [key, null]))
/**
 * Without its own settings of notices, an entry leaves those of the stored window: a file from before them must not send
 * messages to subscribers.
 */
const withDefaults = (entry: WindowEntry, stored: MaintenanceWindow | null) => ({
  ...UNSET,
  notify_subscribers: stored?.notifySubscribers ?? notifiesByDefault(entry.cron),
  announce_minutes: stored?.announceMinutes ?? DEFAULT_ANNOUNCE_MINUTES,
  ...entry,
})

/** Returns a window with the names of the file, except its monitors, which are sorted ids. */
export const toStoredWindowFields = (window: MaintenanceWindow): RecordFields =>
  normalizeFields({ ...toSnakeKeys(window), monitors: window.monitorIds })

/** `monitorIds` are the resolved references; `stored` is the window that the entry changes. */
export const toWindowFields = (
  entry: WindowEntry,
  monitorIds: string[],
  stored: MaintenanceWindow | null,
): RecordFields => normalizeFields({ ...withDefaults(entry, stored), monitors: monitorIds })

/** Normalizes times and cron expressions, so that equal values are identical. */
function normalizeFields(fields: RecordFields): RecordFields {
  const times = TIMES.map(key => [key, fields[key] == null ? null : new Date(fields[key] as string).toISOString()])
  const cron = typeof fields.cron === 'string' ? fields.cron.trim().replace(/\s+/g, ' ') : null
  const monitors = [...new Set(fields.monitors as string[])].sort()
  return { ...pick(fields, ofItself), ...Object.fromEntries(times), cron, monitors }
}

/** Returns the body of a window for the API. */
export const toWindowBody = (entry: WindowEntry, monitorIds: string[], stored: MaintenanceWindow | null) =>
  ({ ...pick(withDefaults(entry, stored), ofItself), monitor_ids: monitorIds }) as WindowCreate

/** Replaces ids of monitors by the references of the file. */
export const createWindowDisplay =
  (names: ReadonlyMap<string, string>) =>
  (fields: RecordFields): RecordFields => ({
    ...fields,
    monitors: (fields.monitors as string[]).map(id => names.get(id) ?? id).sort(),
  })

/** A window without a living monitor is in no file. Its monitors may be archived, and return with their keys. */
export const isInExport = ({ monitorIds }: MaintenanceWindow): boolean => monitorIds.length > 0
