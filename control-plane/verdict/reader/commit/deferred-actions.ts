import type { Tx } from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import { findProjectIds } from '../../../monitoring/monitors/store.ts'
import type { VerdictChange } from '../../core/decision-actions.ts'
import type { MonitorState } from '../../core/types.ts'
import { recordTransitions } from '../metrics.ts'
import { markSaved, movePosition, type PartitionReading, reloadMonitors, retryUntilDone } from '../reading-actions.ts'
import { type ApplyOutcome, applyPerProject } from './apply-actions.ts'
import { deferChange } from './deferred.ts'
import { deleteDeferredChanges } from './deferred-store.ts'

const MIN_RETRY_DELAY_MS = 50
const MAX_RETRY_DELAY_MS = 1_000
/** A retry blocks the whole partition while it waits for locks, so it waits at most a tenth of the pause. */
const LOCK_TIMEOUT_MS = 100

/** Keeps the changes of a monitor in order, and defers all changes of a project whose rows were found locked. */
export async function splitByDeferral(
  { tools, deferred, lockedProjects }: PartitionReading,
  changes: VerdictChange[],
): Promise<{ ready: VerdictChange[]; waiting: VerdictChange[] }> {
  const ids = changes.map(change => change.monitorId)
  const projects = lockedProjects.size === 0 ? null : await findProjectIds(tools.db, ids)
  const waits = ({ monitorId }: VerdictChange) =>
    deferred.has(monitorId) || (projects !== null && lockedProjects.has(projects.get(monitorId) ?? ''))
  return { ready: changes.filter(change => !waits(change)), waiting: changes.filter(waits) }
}

/** Records what a committed transaction has deferred. */
export function recordDeferred(
  reading: PartitionReading,
  outcome: ApplyOutcome,
  before: ReadonlyMap<string, MonitorState>,
): void {
  const { deferred, lockedProjects, retry } = reading
  if (deferred.size === 0 && outcome.deferred.length > 0) {
    retry.pauseMs = MIN_RETRY_DELAY_MS
    retry.dueMs = monotonicMs() + retry.pauseMs
  }
  for (const change of outcome.deferred) deferChange(deferred, change, before.get(change.monitorId) ?? null)
  for (const project of outcome.lockedProjects) lockedProjects.add(project)
  updateGauge(reading)
}

/** How long to wait for messages at most, so that deferred changes are retried in time. */
export const limitWaitMs = ({ deferred, retry }: PartitionReading, ms: number): number =>
  deferred.size === 0 ? ms : Math.min(ms, Math.max(0, retry.dueMs - monotonicMs()))

/**
 * Applies deferred changes whose rows are free by now, in one transaction that deletes them from `deferred_changes`, so
 * that each change is stored once. To be called when everything that was counted is stored.
 */
export async function retryDeferred(reading: PartitionReading): Promise<void> {
  const { tools, deferred, lockedProjects, retry } = reading
  if (deferred.size === 0 || monotonicMs() < retry.dueMs) return
  const { settled, discarded, stillLocked } = await retryUntilDone(reading, () =>
    tools.db.transaction(async tx => {
      await movePosition(tx, reading, LOCK_TIMEOUT_MS)
      return applyDeferred(tx, reading)
    }),
  )
  markSaved(reading)
  const changes = settled.flatMap(id => deferred.get(id)?.change ?? [])
  recordTransitions(tools.metrics, changes, new Set(discarded))
  tools.metrics.discarded.inc(discarded.length)
  const before = new Map(discarded.map(id => [id, deferred.get(id)?.before ?? null]))
  for (const id of settled) deferred.delete(id)
  lockedProjects.clear()
  for (const project of stillLocked) lockedProjects.add(project)
  retry.pauseMs = Math.min(retry.pauseMs * 2, MAX_RETRY_DELAY_MS)
  retry.dueMs = monotonicMs() + retry.pauseMs
  updateGauge(reading)
  const versions = new Map(discarded.map(id => [id, 0]))
  if (discarded.length > 0)
    await retryUntilDone(reading, () => reloadMonitors(reading, versions, { isDiscarded: true, before }))
}

type SettledChanges = { settled: string[]; discarded: string[]; stillLocked: string[] }

async function applyDeferred(tx: Tx, reading: PartitionReading): Promise<SettledChanges> {
  const { tools, partition, deferred } = reading
  const changes = [...deferred.values()].flatMap(({ change }) => change ?? [])
  const outcome = await applyPerProject(tx, changes, tools)
  const waiting = new Set(outcome.deferred.map(({ monitorId }) => monitorId))
  const settled = [...deferred.keys()].filter(id => !waiting.has(id))
  const rows = settled.reduce((sum, id) => sum + deferred.get(id)!.rows, 0)
  if (settled.length > 0) await deleteDeferredChanges(tx, partition.id, settled, rows)
  return { settled, discarded: outcome.discarded, stillLocked: outcome.lockedProjects }
}

const updateGauge = ({ tools, partition, deferred }: PartitionReading) =>
  tools.metrics.deferred.set({ partition: partition.id }, deferred.size)
