import { isDeepStrictEqual } from 'node:util'
import { CheckSpec } from '../../../../proto/gen/probe/v1/fleet.ts'
import { fnv1a } from '../../../../shared/nats/subjects.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { toCheckSpec } from '../../monitors/check-spec.ts'
import { isCheckedByProbes } from '../../monitors/settings/configuration-issues.ts'
import type { StoredMonitor } from '../../monitors/types.ts'

/** A monitor as the fleet keeps it in memory. `spec` null: it is not checked (paused, deleted, incomplete). */
export type IndexedMonitor = {
  id: string
  revision: number
  configVersion: number
  intervalS: number
  retryCount: number
  regions: readonly string[]
  spec: CheckSpec | null
  /** a number of the project, the same for all its monitors; probes divide their concurrent checks fairly by it */
  tenant: number
  /** whether a probe of another region may check a failure in doubt; `whole`: with credentials; undefined: it may not */
  witness?: 'reduced' | 'whole'
  /** approximate size of its assignment in a message */
  sizeBytes: number
  /** when its other regions were last asked because its target was silent; monotonic, in ms */
  othersAskedMs?: number
  /** when a witness was last asked; monotonic, in ms */
  witnessAskedMs?: number
}

/** All monitors by id, and their changes in the order of revisions, so that "since revision n" needs no full scan. */
export type MonitorIndex = {
  /** all changes up to this revision are included */
  revision: number
  /** deletions up to this revision were removed: a probe with a lower revision needs a snapshot */
  compactedRevision: number
  entries: Map<string, IndexedMonitor>
  log: { revision: number; id: string }[]
  /** deleted monitors of which probes may still have to be notified, in the order of revisions */
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

/** Throws when the monitor's secrets cannot be decrypted. The caller must then use `toInactiveMonitor`. */
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

/** True for a deletion that is so old that probes are no longer notified of it. */
export function isExpiredDeletion(monitor: Pick<StoredMonitor, 'deletedAt'>, nowMs: number): boolean {
  return monitor.deletedAt !== null && nowMs - monitor.deletedAt.getTime() > DELETION_RETENTION_MS
}

/** Records that a monitor, which was just indexed, is deleted. */
export function recordDeletion(
  monitorIndex: MonitorIndex,
  { id, revision, deletedAt }: Pick<StoredMonitor, 'id' | 'revision' | 'deletedAt'>,
): void {
  monitorIndex.deleted.push({ id, revision, atMs: deletedAt?.getTime() ?? 0 })
}

/** Removes deleted monitors from memory when probes no longer have to be notified of them. */
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

/** Adds the next entry, in the order of revisions. Returns the entry that it replaces. */
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

/** Prepares the index for a reload from the first revision, after the database was restored. */
export function resetIndex(monitorIndex: MonitorIndex): void {
  Object.assign(monitorIndex, { revision: 0, log: [], deleted: [] })
}

/** True when both entries have the same assignment for probes, whatever their revisions and the times of requests. */
export function hasSameAssignment(a: IndexedMonitor, b: IndexedMonitor): boolean {
  const toAssignment = (entry: IndexedMonitor) => ({ ...entry, revision: 0, othersAskedMs: 0, witnessAskedMs: 0 })
  return isDeepStrictEqual(toAssignment(a), toAssignment(b))
}

/** Advances the revision past a deletion that has expired. */
export function skipExpiredDeletion(monitorIndex: MonitorIndex, monitor: Pick<StoredMonitor, 'id' | 'revision'>): void {
  monitorIndex.entries.delete(monitor.id)
  monitorIndex.revision = monitor.revision
  monitorIndex.compactedRevision = monitor.revision
}

/** Lists the ids of the monitors that changed after a revision, each once. */
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
