/** The request that restores the monitors of a bulk change. Pure. */
import { hasMoreValues } from '../../foundation/web/validation/validation-errors.ts'
import type { BulkChange, MonitorChange } from './schema.ts'

/** A body may have 1 MiB and 50,000 values (docs/design/api.md#validation). */
const MAX_LENGTH = 1_000_000
const MAX_VALUES = 49_000

/** What restores one monitor. `change` null: nothing can. */
type Restoration = { monitorId: string; change: MonitorChange | null }

/**
 * Groups monitors with the same restoring change. Returns null when there is nothing to restore, when a monitor cannot be
 * restored, and when the body would be larger than a body may be.
 */
export function buildUndo(restorations: readonly Restoration[]): BulkChange | null {
  const groups = new Map<string, { monitor_ids: string[]; change: MonitorChange }>()
  for (const { monitorId, change } of restorations) {
    if (change === null) return null
    const key = JSON.stringify(change)
    const group = groups.get(key) ?? { monitor_ids: [], change }
    group.monitor_ids.push(monitorId)
    groups.set(key, group)
  }
  const undo: BulkChange = { changes: [...groups.values()], dry_run: false }
  const isTooLarge = hasMoreValues(undo, MAX_VALUES) || Buffer.byteLength(JSON.stringify(undo)) > MAX_LENGTH
  return groups.size === 0 || isTooLarge ? null : undo
}
