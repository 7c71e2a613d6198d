import type { StoredMonitor } from '../../../monitoring/monitors/types.ts'
import type { MonitorState } from '../../../verdict/core/types.ts'
import { type EvaluatedChild, formatChildKey, MAX_CHILDREN } from '../evaluation/evaluate.ts'

/** A stored monitor of a source, with its locked row. `archivedAt`: the monitor is archived and marked as deleted. */
export type StoredChild = {
  monitor: StoredMonitor
  state: MonitorState | null
  /** null after the field was deleted */
  fieldId: string | null
  key: string
  /** the name that the template made; a monitor with another name was renamed by a user */
  madeName: string
  value: string | null
  missingSince: Date | null
  archivedAt: Date | null
}

export type MatchedChild = { stored: StoredChild; found: EvaluatedChild }

/** The difference between the stored monitors of a source and its document. Each monitor is in one list. */
export type Reconciliation = {
  created: EvaluatedChild[]
  /** stored and in the document, including those that return from the archive */
  matched: MatchedChild[]
  /** not archived, and not in the document */
  missing: StoredChild[]
  /** not in the document, and archived now */
  archived: StoredChild[]
  /** the oldest archived monitors, which are deleted */
  pruned: StoredChild[]
}

/** The monitor of a key that was still missing after this time is archived. */
export const ARCHIVE_AFTER_MS = 24 * 3_600_000
/** For each source. A source whose keys are new each time would otherwise grow without limit. */
const MAX_ARCHIVED_CHILDREN = 200

/**
 * Compares the stored monitors of a source with its document. At most MAX_CHILDREN are not archived: when new keys
 * need room, the monitors that have been missing for the longest time are archived early.
 */
export function reconcile(stored: readonly StoredChild[], found: readonly EvaluatedChild[], now: Date): Reconciliation {
  const known = new Map(stored.map(child => [formatChildKey(child), child]))
  const created = found.filter(child => !known.has(formatChildKey(child)))
  const matched = found.flatMap(child => {
    const before = known.get(formatChildKey(child))
    return before ? [{ stored: before, found: child }] : []
  })
  const foundKeys = new Set(found.map(formatChildKey))
  const absent = stored.filter(child => !foundKeys.has(formatChildKey(child)))
  const missing = absent.filter(child => child.archivedAt === null).sort(compareMissingSince)
  const excess = Math.max(0, found.length + missing.length - MAX_CHILDREN)
  const archived = missing.filter((child, i) => i < excess || isExpired(child, now))
  return {
    created,
    matched,
    missing: missing.filter(child => !archived.includes(child)),
    archived,
    pruned: selectPruned(absent, archived),
  }
}

/**
 * Returns the monitors to archive without a new document: those that had been missing for long enough at the last
 * successful fetch. Time without one shows nothing.
 */
export function reviewMissing(
  stored: readonly StoredChild[],
  lastSuccessAt: Date,
): Pick<Reconciliation, 'archived' | 'pruned'> {
  const archived = stored.filter(child => child.archivedAt === null && isExpired(child, lastSuccessAt))
  return { archived, pruned: selectPruned(stored, archived) }
}

const isExpired = ({ missingSince }: StoredChild, fetchedAt: Date) =>
  missingSince !== null && fetchedAt.getTime() - missingSince.getTime() >= ARCHIVE_AFTER_MS

function selectPruned(absent: readonly StoredChild[], archived: readonly StoredChild[]): StoredChild[] {
  const old = absent
    .filter(child => child.archivedAt !== null)
    .sort((a, b) => a.archivedAt!.getTime() - b.archivedAt!.getTime() || byId(a, b))
  return old.slice(0, Math.max(0, old.length + archived.length - MAX_ARCHIVED_CHILDREN))
}

/** Sorts by the time since which keys are missing. Keys that are missing only now come last. */
function compareMissingSince(a: StoredChild, b: StoredChild): number {
  const sinceMs = (child: StoredChild) => child.missingSince?.getTime() ?? Number.MAX_SAFE_INTEGER
  return sinceMs(a) - sinceMs(b) || byId(a, b)
}

const byId = (a: StoredChild, b: StoredChild) => (a.monitor.id < b.monitor.id ? -1 : 1)
