import type { StatusTransition } from '../../control-plane/verdict/core/types.ts'
import { createBatchEffects } from '../../control-plane/verdict/reader/counting/batch-effects.ts'
import { toVerdictResult } from '../../control-plane/verdict/reader/counting/decode.ts'
import type { VerdictMonitorRow } from '../../control-plane/verdict/reader/counting/policy.ts'
import {
  countResult,
  loadMonitor,
  type TrackedMonitors,
} from '../../control-plane/verdict/reader/counting/tracked-monitors.ts'
import type { ResultBatch } from '../../shared/checks/result.ts'
import { computePartition } from '../../shared/nats/subjects.ts'

export type StoredMessage = { sequence: number; takenAtMs: number; partition: number; batch: ResultBatch }

export type ReplayedTransition = { monitorId: string; transition: StatusTransition }

/**
 * Computes the expected transitions from results: each partition goes through the pure core once, in stream order and without
 * a restart. Restarts must not change a verdict.
 */
export function replayMessages(
  messages: readonly StoredMessage[],
  monitors: VerdictMonitorRow[],
): ReplayedTransition[] {
  const partitions = [...new Set(monitors.map(({ id }) => computePartition(id)))]
  return partitions.flatMap(partition =>
    replayPartition(
      messages.filter(message => message.partition === partition),
      monitors.filter(({ id }) => computePartition(id) === partition),
    ),
  )
}

function replayPartition(messages: StoredMessage[], monitors: VerdictMonitorRow[]): ReplayedTransition[] {
  const memory: TrackedMonitors = new Map()
  for (const monitor of monitors) {
    const options = { lookedForVersion: monitor.configVersion, isDiscarded: false }
    loadMonitor(memory, monitor.id, { ...monitor, state: null }, options)
  }
  const replayed: ReplayedTransition[] = []
  for (const { takenAtMs, batch } of messages) {
    // a time before 1970 cannot be the time of a check
    const results = batch.witnessed ? [batch.witnessed] : batch.results
    for (const result of results.filter(({ scheduledAtMs }) => scheduledAtMs >= 0)) {
      const effects = createBatchEffects()
      countResult(memory, effects, result.monitorId, toVerdictResult(batch, result), takenAtMs)
      for (const { monitorId, transitions } of effects.changes.values()) {
        replayed.push(...transitions.map(transition => ({ monitorId, transition })))
      }
    }
  }
  return replayed
}
