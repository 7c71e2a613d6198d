import { projectsOf } from '../monitors/store.ts'
import { monotonicMs } from '../platform/clock.ts'
import type { Tx } from '../platform/postgres.ts'
import type { Change } from '../verdict/judge.ts'
import type { MonitorState } from '../verdict/types.ts'
import { lookAgain, movePosition, noteSaved, persistently, type Reading } from './actions.ts'
import { defer } from './deferred.ts'
import { deleteDeferred } from './deferred-store.ts'
import { judgeApart, type Outcome } from './judging-actions.ts'
import { countTransitions } from './meters.ts'

const SHORTEST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1_000
/** A try that waits holds up the whole partition, so it is a tenth of the pause. */
const LOCK_MS = 100

/** Changes of a monitor stay in order, and those of a project that was found locked are not tried one by one. */
export async function sortOut(
  { tools, deferred, heldProjects }: Reading,
  changes: Change[],
): Promise<{ ready: Change[]; waiting: Change[] }> {
  const ids = changes.map(change => change.monitorId)
  const projects = heldProjects.size === 0 ? null : await projectsOf(tools.db, ids)
  const waits = ({ monitorId }: Change) =>
    deferred.has(monitorId) || (projects !== null && heldProjects.has(projects.get(monitorId) ?? ''))
  return { ready: changes.filter(change => !waits(change)), waiting: changes.filter(waits) }
}

/** What a committed transaction has deferred. */
export function noteDeferred(reading: Reading, outcome: Outcome, before: ReadonlyMap<string, MonitorState>): void {
  const { deferred, heldProjects, retry } = reading
  if (deferred.size === 0 && outcome.deferred.length > 0) {
    retry.pauseMs = SHORTEST_PAUSE_MS
    retry.dueMs = monotonicMs() + retry.pauseMs
  }
  for (const change of outcome.deferred) defer(deferred, change, before.get(change.monitorId) ?? null)
  for (const project of outcome.held) heldProjects.add(project)
  measure(reading)
}

/** How long to wait for messages at most, so that what waits is tried again in time. */
export const waitAtMost = ({ deferred, retry }: Reading, ms: number): number =>
  deferred.size === 0 ? ms : Math.min(ms, Math.max(0, retry.dueMs - monotonicMs()))

/**
 * Judges what was deferred and is free by now, in one transaction that takes it out of `deferred_changes`: whatever
 * ends in between, each change is stored once. To be called when everything that was counted is stored.
 */
export async function retryDeferred(reading: Reading): Promise<void> {
  const { tools, deferred, heldProjects, retry } = reading
  if (deferred.size === 0 || monotonicMs() < retry.dueMs) return
  const { settled, discarded, held } = await persistently(reading, () =>
    tools.db.transaction(async tx => {
      await movePosition(tx, reading, LOCK_MS)
      return judgeDeferred(tx, reading)
    }),
  )
  noteSaved(reading)
  const changes = settled.flatMap(id => deferred.get(id)?.change ?? [])
  countTransitions(tools.meters, changes, new Set(discarded))
  tools.meters.discarded.inc(discarded.length)
  const before = new Map(discarded.map(id => [id, deferred.get(id)?.before ?? null]))
  for (const id of settled) deferred.delete(id)
  heldProjects.clear()
  for (const project of held) heldProjects.add(project)
  retry.pauseMs = Math.min(retry.pauseMs * 2, LONGEST_PAUSE_MS)
  retry.dueMs = monotonicMs() + retry.pauseMs
  measure(reading)
  const versions = new Map(discarded.map(id => [id, 0]))
  if (discarded.length > 0)
    await persistently(reading, () => lookAgain(reading, versions, { isDiscarded: true, before }))
}

type Settled = { settled: string[]; discarded: string[]; held: string[] }

async function judgeDeferred(tx: Tx, reading: Reading): Promise<Settled> {
  const { tools, partition, deferred } = reading
  const changes = [...deferred.values()].flatMap(({ change }) => change ?? [])
  const outcome = await judgeApart(tx, changes, tools)
  const waiting = new Set(outcome.deferred.map(({ monitorId }) => monitorId))
  const settled = [...deferred.keys()].filter(id => !waiting.has(id))
  const rows = settled.reduce((sum, id) => sum + deferred.get(id)!.rows, 0)
  if (settled.length > 0) await deleteDeferred(tx, partition.id, settled, rows)
  return { settled, discarded: outcome.discarded, held: outcome.held }
}

const measure = ({ tools, partition, deferred }: Reading) =>
  tools.meters.deferred.set({ partition: partition.id }, deferred.size)
