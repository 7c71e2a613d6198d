import type { StoredMonitor } from '../monitors/types.ts'
import type { MonitorState } from '../verdict/types.ts'
import { type Child, MOST_CHILDREN } from './evaluate.ts'

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

export type Found = { stored: StoredChild; found: Child }

/** What a document makes of a source's monitors. Each of them is in one list. */
export type Reconciled = {
  made: Child[]
  /** there before and now, back from the archive too */
  kept: Found[]
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
export const MOST_ARCHIVED = 200

/**
 * Brings what a source has together with what its document says. Never more than MOST_CHILDREN live: where new keys
 * need room, those that are missing for longest are archived before their time.
 */
export function reconcile(stored: readonly StoredChild[], found: readonly Child[], now: Date): Reconciled {
  const known = new Map(stored.map(child => [placeOf(child), child]))
  const made = found.filter(child => !known.has(placeOf(child)))
  const kept = found.flatMap(child => {
    const before = known.get(placeOf(child))
    return before ? [{ stored: before, found: child }] : []
  })
  const places = new Set(found.map(placeOf))
  const absent = stored.filter(child => !places.has(placeOf(child)))
  const living = absent.filter(child => child.archivedAt === null).sort(longestMissingFirst)
  const crowd = Math.max(0, found.length + living.length - MOST_CHILDREN)
  const archived = living.filter((child, i) => i < crowd || isOver(child, now))
  return {
    made,
    kept,
    missing: living.filter(child => !archived.includes(child)),
    archived,
    pruned: prunedOf(absent, archived),
  }
}

/** What time alone does to a source's monitors: what has been missing for long enough is archived. */
export function reviewMissing(stored: readonly StoredChild[], now: Date): Pick<Reconciled, 'archived' | 'pruned'> {
  const archived = stored.filter(child => child.archivedAt === null && isOver(child, now))
  return { archived, pruned: prunedOf(stored, archived) }
}

const isOver = ({ missingSince }: StoredChild, now: Date) =>
  missingSince !== null && now.getTime() - missingSince.getTime() >= ARCHIVE_AFTER_MS

function prunedOf(absent: readonly StoredChild[], archived: readonly StoredChild[]): StoredChild[] {
  const old = absent
    .filter(child => child.archivedAt !== null)
    .sort((a, b) => a.archivedAt!.getTime() - b.archivedAt!.getTime() || byId(a, b))
  return old.slice(0, Math.max(0, old.length + archived.length - MOST_ARCHIVED))
}

/** What is missing only from now on comes last. */
function longestMissingFirst(a: StoredChild, b: StoredChild): number {
  const sinceMs = (child: StoredChild) => child.missingSince?.getTime() ?? Number.MAX_SAFE_INTEGER
  return sinceMs(a) - sinceMs(b) || byId(a, b)
}

const byId = (a: StoredChild, b: StoredChild) => (a.monitor.id < b.monitor.id ? -1 : 1)

export const placeOf = ({ fieldId, key }: { fieldId: string | null; key: string }) => `${fieldId} ${key}`
