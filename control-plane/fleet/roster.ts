import { isDeepStrictEqual } from 'node:util'
import { CheckSpec } from '../../proto/gen/probe/v1/fleet.ts'
import { fnv1a } from '../../shared/subjects.ts'
import { toCheckSpec } from '../monitors/check-spec.ts'
import { isChecked } from '../monitors/configuration.ts'
import type { StoredMonitor } from '../monitors/types.ts'
import type { Secrets } from '../platform/secrets.ts'

/** What the fleet keeps of a monitor. `spec` null: nobody checks it now (paused, deleted, incomplete). */
export type Entry = {
  id: string
  revision: number
  configVersion: number
  intervalS: number
  retryCount: number
  regions: readonly string[]
  spec: CheckSpec | null
  /** a number of the project, the same for all of its monitors: probes share their places fairly by it */
  tenant: number
  /** a probe of another region may confirm doubted failures; `whole`: with credentials; left out: it may not */
  witness?: 'reduced' | 'whole'
  /** about the size of its assignment on the wire */
  sizeBytes: number
  /** when its other regions were last asked because one found it silent; monotonic, in ms */
  othersAskedMs?: number
  /** when a witness was last asked for it; monotonic, in ms */
  witnessAskedMs?: number
}

/** All monitors by id, and what changed in the order of revisions, so that "since revision n" needs no full scan. */
export type Roster = {
  /** everything up to this one is in */
  revision: number
  /** deletions up to this one are forgotten: who has less needs a snapshot */
  floor: number
  entries: Map<string, Entry>
  log: { revision: number; id: string }[]
  /** deleted monitors that probes still have to hear of, in the order of revisions */
  deleted: { revision: number; id: string; atMs: number }[]
}

const FORGET_DELETED_AFTER_MS = 24 * 3_600_000
const NO_REGIONS: readonly string[] = []

export const createRoster = (): Roster => ({ revision: 0, floor: 0, entries: new Map(), log: [], deleted: [] })

/** Throws when the monitor's secrets do not open: the caller has to go on with `uncheckedEntry`. */
export function entryOf(monitor: StoredMonitor, secrets: Secrets): Entry {
  if (!isChecked(monitor)) return uncheckedEntry(monitor)
  const spec = toCheckSpec(monitor, secrets)
  return {
    id: monitor.id,
    revision: monitor.revision,
    configVersion: monitor.configVersion,
    intervalS: monitor.intervalSeconds,
    retryCount: monitor.retryCount,
    regions: monitor.regions,
    spec,
    tenant: fnv1a(monitor.projectId),
    ...(monitor.witness && { witness: monitor.witnessWithCredentials ? 'whole' : 'reduced' }),
    sizeBytes: CheckSpec.encode(spec).finish().length + 64,
  }
}

export function uncheckedEntry(monitor: Pick<StoredMonitor, 'id' | 'revision' | 'configVersion'>): Entry {
  const { id, revision, configVersion } = monitor
  const nothing = { intervalS: 0, retryCount: 0, regions: NO_REGIONS, spec: null, tenant: 0, sizeBytes: 64 }
  return { id, revision, configVersion, ...nothing }
}

/** True for a deletion so old that no probe is told of it any more. */
export function isForgotten(monitor: Pick<StoredMonitor, 'deletedAt'>, nowMs: number): boolean {
  return monitor.deletedAt !== null && nowMs - monitor.deletedAt.getTime() > FORGET_DELETED_AFTER_MS
}

/** A monitor that was just entered is deleted. */
export function noteDeletion(
  roster: Roster,
  { id, revision, deletedAt }: Pick<StoredMonitor, 'id' | 'revision' | 'deletedAt'>,
): void {
  roster.deleted.push({ id, revision, atMs: deletedAt?.getTime() ?? 0 })
}

/** Removes from memory what was deleted so long ago that no probe has to hear of it any more. */
export function forgetDeleted(roster: Roster, nowMs: number): void {
  let count = 0
  for (const { id, revision, atMs } of roster.deleted) {
    if (nowMs - atMs <= FORGET_DELETED_AFTER_MS) break
    if (roster.entries.get(id)?.revision === revision) roster.entries.delete(id)
    roster.floor = Math.max(roster.floor, revision)
    count++
  }
  if (count > 0) roster.deleted.splice(0, count)
}

/** Takes in the next entry, in the order of revisions; returns the one it replaces. */
export function enter(roster: Roster, entry: Entry): Entry | null {
  const before = roster.entries.get(entry.id) ?? null
  roster.entries.set(entry.id, entry)
  roster.revision = entry.revision
  roster.log.push({ revision: entry.revision, id: entry.id })
  if (roster.log.length > 2 * roster.entries.size + 1_000) {
    roster.log = roster.log.filter(change => roster.entries.get(change.id)?.revision === change.revision)
  }
  return before
}

/** Everything comes again, from the first revision on: the database was restored. */
export function beginAgain(roster: Roster): void {
  Object.assign(roster, { revision: 0, log: [], deleted: [] })
}

/** Whether probes have to do the same for both. */
export function isSameWork(a: Entry, b: Entry): boolean {
  const workOf = (entry: Entry) => ({ ...entry, revision: 0, othersAskedMs: 0 })
  return isDeepStrictEqual(workOf(a), workOf(b))
}

/** Passes over a deletion that is forgotten. */
export function forget(roster: Roster, monitor: Pick<StoredMonitor, 'id' | 'revision'>): void {
  roster.entries.delete(monitor.id)
  roster.revision = monitor.revision
  roster.floor = monitor.revision
}

/** The ids of the monitors that changed after a revision, each once. */
export function changedSince(roster: Roster, revision: number): string[] {
  let low = 0
  let high = roster.log.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (roster.log[middle]!.revision <= revision) low = middle + 1
    else high = middle
  }
  const ids: string[] = []
  for (let i = low; i < roster.log.length; i++) {
    const { id, revision: at } = roster.log[i]!
    if (roster.entries.get(id)?.revision === at) ids.push(id)
  }
  return ids
}
