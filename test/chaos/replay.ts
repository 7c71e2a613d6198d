import { toCounted } from '../../control-plane/results/decode.ts'
import { countResult, type Memory, newHarvest, takeUp } from '../../control-plane/results/memory.ts'
import type { WatchedMonitor } from '../../control-plane/results/policy.ts'
import type { Transition } from '../../control-plane/verdict/types.ts'
import type { ResultBatch } from '../../shared/result.ts'
import { partitionOf } from '../../shared/subjects.ts'

export type StoredMessage = { sequence: number; takenAtMs: number; partition: number; batch: ResultBatch }

/** `result`: the one that decided. */
export type Replayed = { monitorId: string; transition: Transition }

/**
 * What the verdict has to come to from these results: every partition in the order of the stream through the pure core,
 * once, by one reader that never fails: no restart changes a verdict.
 */
export function replay(messages: readonly StoredMessage[], monitors: WatchedMonitor[]): Replayed[] {
  const partitions = [...new Set(monitors.map(({ id }) => partitionOf(id)))]
  return partitions.flatMap(partition =>
    replayPartition(
      messages.filter(message => message.partition === partition),
      monitors.filter(({ id }) => partitionOf(id) === partition),
    ),
  )
}

function replayPartition(messages: StoredMessage[], monitors: WatchedMonitor[]): Replayed[] {
  const memory: Memory = new Map()
  for (const monitor of monitors) {
    const options = { lookedForVersion: monitor.configVersion, isDiscarded: false }
    takeUp(memory, monitor.id, { ...monitor, state: null }, options)
  }
  const replayed: Replayed[] = []
  for (const { takenAtMs, batch } of messages) {
    // a time before 1970 is not a time of a check
    const results = batch.witnessed ? [batch.witnessed] : batch.results
    for (const result of results.filter(({ scheduledAtMs }) => scheduledAtMs >= 0)) {
      const harvest = newHarvest()
      countResult(memory, harvest, result.monitorId, toCounted(batch, result), takenAtMs)
      for (const { monitorId, transitions } of harvest.changes.values()) {
        replayed.push(...transitions.map(transition => ({ monitorId, transition })))
      }
    }
  }
  return replayed
}
