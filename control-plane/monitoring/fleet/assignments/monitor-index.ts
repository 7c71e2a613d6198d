import { isDeepStrictEqual } from 'node:util'
import { CheckSpec } from '../../../../proto/gen/probe/v1/fleet.ts'
import { fnv1a } from '../../../../shared/nats/subjects.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { toCheckSpec } from '../../monitors/check-spec.ts'
import { isCheckedByProbes } from '../../monitors/settings/configuration-issues.ts'
import type { StoredMonitor } from '../../monitors/types.ts'

/** What the fleet keeps of a monitor. `spec` null: nobody checks it now (paused, deleted, incomplete). */
export type IndexedMonitor = {
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
export type MonitorIndex = {
  /** everything up to this one is in */
  revision: number
  /** deletions up to this one are forgotten: who has less needs a snapshot */
  compactedRevision: number
  entries: Map<string, IndexedMonitor>
  log: { revision: number; id: string }[]
  /** deleted monitors that probes still have to hear of, in the order of revisions */
  deleted: { revision: number; id: string; atMs: number }[]
}

const DELETION_RETENTION_MS = 24 * 3_600_000
const NO_REGIONS: readonly string[] = []

export const createMonitorIndex = (): MonitorIndex => ({
  revision: 0,
  compactedRevision: 0,
  entries: new Map(),
  log: [],
  deleted: [],
})

/** Throws when the monitor's secrets do not open: the caller has to go on with `uncheckedEntry`. */
export function toIndexedMonitor(monitor: StoredMonitor, secrets: SecretCipher): IndexedMonitor {
  if (!isCheckedByProbes(monitor)) return toInactiveMonitor(monitor)
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

export function toInactiveMonitor(monitor: Pick<StoredMonitor, 'id' | 'revision' | 'configVersion'>): IndexedMonitor {
  const { id, revision, configVersion } = monitor
  const nothing = { intervalS: 0, retryCount: 0, regions: NO_REGIONS, spec: null, tenant: 0, sizeBytes: 64 }
  return { id, revision, configVersion, ...nothing }
}

/** True for a deletion so old that no probe is told of it any more. */
export function isExpiredDeletion(monitor: Pick<StoredMonitor, 'deletedAt'>, nowMs: number): boolean {
  return monitor.deletedAt !== null && nowMs - monitor.deletedAt.getTime() > DELETION_RETENTION_MS
}

/** A monitor that was just entered is deleted. */
export function recordDeletion(
  monitorIndex: MonitorIndex,
  { id, revision, deletedAt }: Pick<StoredMonitor, 'id' | 'revision' | 'deletedAt'>,
): void {
  monitorIndex.deleted.push({ id, revision, atMs: deletedAt?.getTime() ?? 0 })
}

/** Removes from memory what was deleted so long ago that no probe has to hear of it any more. */
export function expireDeletions(monitorIndex: MonitorIndex, nowMs: number): void {
  let count = 0
  for (const { id, revision, atMs } of monitorIndex.deleted) {
    if (nowMs - atMs <= DELETION_RETENTION_MS) break
    if (monitorIndex.entries.get(id)?.revision === revision) monitorIndex.entries.delete(id)
    monitorIndex.compactedRevision = Math.max(monitorIndex.compactedRevision, revision)
    count++
  }
  if (count > 0) monitorIndex.deleted.splice(0, count)
}

/** Takes in the next entry, in the order of revisions; returns the one it replaces. */
export function indexMonitor(monitorIndex: MonitorIndex, entry: IndexedMonitor): IndexedMonitor | null {
  const before = monitorIndex.entries.get(entry.id) ?? null
  monitorIndex.entries.set(entry.id, entry)
  monitorIndex.revision = entry.revision
  monitorIndex.log.push({ revision: entry.revision, id: entry.id })
  if (monitorIndex.log.length > 2 * monitorIndex.entries.size + 1_000) {
    monitorIndex.log = monitorIndex.log.filter(
      change => monitorIndex.entries.get(change.id)?.revision === change.revision,
    )
  }
  return before
}

/** Everything comes again, from the first revision on: the database was restored. */
export function resetIndex(monitorIndex: MonitorIndex): void {
  Object.assign(monitorIndex, { revision: 0, log: [], deleted: [] })
}

/** Whether probes have to do the same for both. */
export function hasSameAssignment(a: IndexedMonitor, b: IndexedMonitor): boolean {
  const workOf = (entry: IndexedMonitor) => ({ ...entry, revision: 0, othersAskedMs: 0 })
  return isDeepStrictEqual(workOf(a), workOf(b))
}

/** Passes over a deletion that is forgotten. */
export function skipExpiredDeletion(monitorIndex: MonitorIndex, monitor: Pick<StoredMonitor, 'id' | 'revision'>): void {
  monitorIndex.entries.delete(monitor.id)
  monitorIndex.revision = monitor.revision
  monitorIndex.compactedRevision = monitor.revision
}

/** The ids of the monitors that changed after a revision, each once. */
export function listChangedSince(monitorIndex: MonitorIndex, revision: number): string[] {
  let low = 0
  let high = monitorIndex.log.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (monitorIndex.log[middle]!.revision <= revision) low = middle + 1
    else high = middle
  }
  const ids: string[] = []
  for (let i = low; i < monitorIndex.log.length; i++) {
    const { id, revision: at } = monitorIndex.log[i]!
    if (monitorIndex.entries.get(id)?.revision === at) ids.push(id)
  }
  return ids
}
