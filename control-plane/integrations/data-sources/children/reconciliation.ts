import type { StoredMonitor } from '../../../monitoring/monitors/types.ts'
import type { MonitorState } from '../../../verdict/core/types.ts'
import { type EvaluatedChild, MAX_CHILDREN } from '../evaluation/evaluate.ts'

/** A monitor of a source as it is stored, with its locked row. `archivedAt`: put aside, its monitor marked as deleted. */
export type StoredChild = {
  monitor: StoredMonitor
  state: MonitorState | null
  /** null once the field is gone */
  fieldId: string | null
  key: string
  /** what the template made; a monitor of another name was named by hand */
  madeName: string
  value: string | null
  missingSince: Date | null
  archivedAt: Date | null
}

export type MatchedChild = { stored: StoredChild; found: EvaluatedChild }

/** What a document makes of a source's monitors. Each of them is in one list. */
export type Reconciliation = {
  created: EvaluatedChild[]
  /** there before and now, back from the archive too */
  matched: MatchedChild[]
  /** living, and not in the document */
  missing: StoredChild[]
  /** living and missing, and put aside */
  archived: StoredChild[]
  /** put aside so long ago that they are forgotten for good */
  pruned: StoredChild[]
}

/** A missing key is archived after this (decisions 9.4). */
export const ARCHIVE_AFTER_MS = 24 * 3_600_000
/** Of each source, so that one whose keys are new each time does not grow without end. */
export const MAX_ARCHIVED_CHILDREN = 200

/**
 * Brings what a source has together with what its document says. Never more than MOST_CHILDREN live: where new keys
 * need room, those that are missing for longest are archived before their time.
 */
export function reconcile(stored: readonly StoredChild[], found: readonly EvaluatedChild[], now: Date): Reconciliation {
  const known = new Map(stored.map(child => [getChildKey(child), child]))
  const made = found.filter(child => !known.has(getChildKey(child)))
  const kept = found.flatMap(child => {
    const before = known.get(getChildKey(child))
    return before ? [{ stored: before, found: child }] : []
  })
  const places = new Set(found.map(getChildKey))
  const absent = stored.filter(child => !places.has(getChildKey(child)))
  const living = absent.filter(child => child.archivedAt === null).sort(compareMissingSince)
  const crowd = Math.max(0, found.length + living.length - MAX_CHILDREN)
  const archived = living.filter((child, i) => i < crowd || isExpired(child, now))
  return {
    created: made,
    matched: kept,
    missing: living.filter(child => !archived.includes(child)),
    archived,
    pruned: selectPruned(absent, archived),
  }
}

/** What time alone does to a source's monitors: what has been missing for long enough is archived. */
export function reviewMissing(stored: readonly StoredChild[], now: Date): Pick<Reconciliation, 'archived' | 'pruned'> {
  const archived = stored.filter(child => child.archivedAt === null && isExpired(child, now))
  return { archived, pruned: selectPruned(stored, archived) }
}

const isExpired = ({ missingSince }: StoredChild, now: Date) =>
  missingSince !== null && now.getTime() - missingSince.getTime() >= ARCHIVE_AFTER_MS

function selectPruned(absent: readonly StoredChild[], archived: readonly StoredChild[]): StoredChild[] {
  const old = absent
    .filter(child => child.archivedAt !== null)
    .sort((a, b) => a.archivedAt!.getTime() - b.archivedAt!.getTime() || byId(a, b))
  return old.slice(0, Math.max(0, old.length + archived.length - MAX_ARCHIVED_CHILDREN))
}

/** What is missing only from now on comes last. */
function compareMissingSince(a: StoredChild, b: StoredChild): number {
  const sinceMs = (child: StoredChild) => child.missingSince?.getTime() ?? Number.MAX_SAFE_INTEGER
  return sinceMs(a) - sinceMs(b) || byId(a, b)
}

const byId = (a: StoredChild, b: StoredChild) => (a.monitor.id < b.monitor.id ? -1 : 1)

export const getChildKey = ({ fieldId, key }: { fieldId: string | null; key: string }) => `${fieldId} ${key}`
