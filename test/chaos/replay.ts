import { toCounted } from '../../control-plane/results/decode.ts'
import { countResult, type Memory, newHarvest, restoreAll, takeUp } from '../../control-plane/results/memory.ts'
import type { WatchedMonitor } from '../../control-plane/results/policy.ts'
import type { Transition } from '../../control-plane/verdict/types.ts'
import type { ResultBatch } from '../../shared/result.ts'
import { partitionOf } from '../../shared/subjects.ts'

/** A process began to read a partition that it owned by this epoch, after the message at this position. */
export type Reading = { process: string; order: number; partition: number; epoch: number; position: number }

export type StoredMessage = { sequence: number; takenAtMs: number; partition: number; batch: ResultBatch }

/** `result`: the one that decided. */
export type Told = { monitorId: string; transition: Transition }

/**
 * What the verdict has to come to from these results: every partition in the order of the stream through the pure core,
 * once, by one reader that never fails. Where a process began to read, stored votes count as just seen (decisions 4.4):
 * the one thing by which a restart may change a verdict.
 */
export function replay(
  messages: readonly StoredMessage[],
  monitors: WatchedMonitor[],
  readings: readonly Reading[],
): Told[] {
  const partitions = [...new Set(monitors.map(({ id }) => partitionOf(id)))]
  return partitions.flatMap(partition =>
    replayPartition(
      messages.filter(message => message.partition === partition),
      monitors.filter(({ id }) => partitionOf(id) === partition),
      readings.filter(reading => reading.partition === partition),
    ),
  )
}

function replayPartition(messages: StoredMessage[], monitors: WatchedMonitor[], readings: Reading[]): Told[] {
  const memory: Memory = new Map()
  for (const monitor of monitors) {
    const options = { lookedForVersion: monitor.configVersion, isDiscarded: false, nowMs: null }
    takeUp(memory, monitor.id, { ...monitor, state: null }, options)
  }
  // by epoch, because who lost a partition may say so after the next one has begun; positions never go back then
  const begun = readings.toSorted((a, b) => a.epoch - b.epoch || a.order - b.order)
  const told: Told[] = []
  let next = 0
  for (const { sequence, takenAtMs, batch } of messages) {
    const first = next
    while (next < begun.length && begun[next]!.position < sequence) next++
    if (next > first) restoreAll(memory, takenAtMs)
    // a time before 1970 is not a time of a check
    for (const result of batch.results.filter(({ scheduledAtMs }) => scheduledAtMs >= 0)) {
      const harvest = newHarvest()
      countResult(memory, harvest, result.monitorId, toCounted(batch, result), takenAtMs)
      for (const { monitorId, transitions } of harvest.changes.values()) {
        told.push(...transitions.map(transition => ({ monitorId, transition })))
      }
    }
  }
  return told
}
