import { Outcome, type Result } from '../../shared/checks/result.ts'
import { computePartition, PARTITIONS, resultSubject } from '../../shared/nats/subjects.ts'
import type { Log } from '../../shared/process/log.ts'
import type { CancelTimer, Machine } from '../clock.ts'
import { countBatchEntries, encodeBatch, encodeBatchEntry, MAX_BATCH_RESULTS } from './batch.ts'
import type { ResultStream } from './nats.ts'
import type { Spool } from './spool.ts'

type PublisherOptions = {
  stream: ResultStream
  spool: Spool
  probeId: string
  region: string
  machine: Machine
  /** a result older than this is late and left to the replay */
  lateAfterMs: number
  /** a result of this monitor became late and does not count for the verdict */
  onLate: (monitorId: string) => void
  log: Log
}

export type ResultPublisher = {
  publish: (result: Result) => void
  /** The connection to NATS was lost: pending results are written to disk. */
  markAway: () => void
  /** The connection to NATS is back: pending results are sent. */
  markBack: () => void
  /** JetStream has stored another message of this probe. */
  resetAwayTime: () => void
  isAway: () => boolean
  /** for how long JetStream has stored nothing, in ms; 0 while it stores results */
  awayMs: () => number
  /** results stored by JetStream since the start */
  published: () => number
  /** Sends pending results. What JetStream does not store in time goes to the spool. */
  close: () => Promise<void>
}

/** `seq`: its number in the spool; null while it is only in memory. */
type PendingResult = { monitorId: string; piece: Uint8Array; bornMs: number; seq: number | null }
type PendingBatch = { id: string; entries: PendingResult[] }
type PartitionQueue = {
  partition: number
  entries: PendingResult[]
  batch: PendingBatch | null
  isSending: boolean
}

const UP_BATCH_DELAY_MS = 1000
const RETRY_DELAY_MS = 1000
const CLOSE_TIMEOUT_MS = 3000
/** Maximum number of results of one partition in memory while NATS is unreachable; the spool has them as well. */
const MAX_PARTITION_QUEUE = 5000

/**
 * Publishes results to JetStream in order within a partition. One message per partition is in flight; it is repeated with
 * the same id until it is stored or its results are late (docs/design/probes.md#results).
 */
export function createResultPublisher(parts: PublisherOptions): ResultPublisher {
  const { stream, spool, probeId, region, machine, lateAfterMs, onLate, log } = parts
  const instance = machine.uuid()
  const queues = Array.from({ length: PARTITIONS }, (_, partition): PartitionQueue => createPartitionQueue(partition))
  let isAway = false
  /** since when JetStream has stored nothing; null: it stores results */
  let failingSinceMs: number | null = null
  let batches = 0
  let published = 0
  let cancelRetry: CancelTimer = () => {}
  let cancelFlush: CancelTimer | null = null

  function publish(result: Result): void {
    const { monitorId } = result
    const queue = queues[computePartition(monitorId)]!
    const entry: PendingResult = {
      monitorId,
      piece: encodeBatchEntry(result),
      bornMs: machine.monotonicMs(),
      seq: null,
    }
    queue.entries.push(entry)
    if (isAway) {
      spoolEntry(queue, entry)
      if (queue.entries.length > MAX_PARTITION_QUEUE) releaseLate(queue.entries.shift()!)
    } else if (result.outcome !== Outcome.UP || queue.entries.length >= MAX_BATCH_RESULTS) void send(queue)
    else cancelFlush ??= machine.after(UP_BATCH_DELAY_MS, flush)
  }

  /** Sends all partitions together, so that their messages share one write and their acks one read. */
  function flush(): void {
    cancelFlush = null
    for (const queue of queues) if (queue.entries.length > 0) void send(queue)
  }

  async function send(queue: PartitionQueue): Promise<void> {
    if (queue.isSending) return
    queue.isSending = true
    try {
      for (let batch = nextBatch(queue); batch; batch = nextBatch(queue)) {
        const bytes = encodeBatch(
          probeId,
          region,
          batch.entries.map(entry => entry.piece),
        )
        await stream.publish(resultSubject(queue.partition, region), bytes, batch.id)
        queue.batch = null
        published += batch.entries.length
        for (const { seq } of batch.entries) if (seq !== null) spool.delivered(seq)
        isAway = false
        failingSinceMs = null
      }
    } catch (error) {
      if (!isAway) log.warn({ err: error }, 'JetStream did not store results; they are spooled and retried')
      away()
      retry()
    } finally {
      queue.isSending = false
    }
  }

  /** The batch that is not stored yet, or the next one. Results that became late are left to the replay. */
  function nextBatch(queue: PartitionQueue): PendingBatch | null {
    const lateBeforeMs = machine.monotonicMs() - lateAfterMs
    if (queue.batch && queue.batch.entries[0]!.bornMs > lateBeforeMs) return queue.batch
    if (queue.batch) queue.entries.unshift(...queue.batch.entries)
    const late = queue.entries.findIndex(entry => entry.bornMs > lateBeforeMs)
    for (const entry of queue.entries.splice(0, late < 0 ? queue.entries.length : late)) {
      spoolEntry(queue, entry)
      releaseLate(entry)
    }
    const entries = queue.entries.splice(0, countBatchEntries(queue.entries))
    queue.batch = entries.length > 0 ? { id: `${instance}-${++batches}`, entries } : null
    return queue.batch
  }

  function spoolEntry(queue: PartitionQueue, entry: PendingResult): void {
    entry.seq ??= spool.append({ partition: queue.partition, probeId, piece: entry.piece })
  }

  function releaseLate(entry: PendingResult): void {
    if (entry.seq !== null) spool.release(entry.seq)
    onLate(entry.monitorId)
  }

  function away(): void {
    failingSinceMs ??= machine.monotonicMs()
    isAway = true
    for (const queue of queues) {
      for (const entry of queue.batch?.entries ?? []) spoolEntry(queue, entry)
      for (const entry of queue.entries) spoolEntry(queue, entry)
    }
  }

  function retry(): void {
    cancelRetry()
    cancelRetry = machine.after(RETRY_DELAY_MS, sendAgain)
  }

  /** While JetStream is unavailable a retry is always scheduled; results that arrive meanwhile depend on it. */
  function sendAgain(): void {
    cancelRetry()
    // With nothing to send, recovery cannot be detected here; the replay tries instead.
    if (stream.isConnected() && queues.every(isIdle)) isAway = false
    for (const queue of queues) void send(queue)
    if (isAway) retry()
  }

  return {
    publish,
    markBack() {
      // reset until a publish fails again
      failingSinceMs = null
      sendAgain()
    },
    resetAwayTime() {
      failingSinceMs = null
    },
    isAway: () => isAway,
    awayMs: () => (failingSinceMs === null ? 0 : Math.max(1, Math.round(machine.monotonicMs() - failingSinceMs))),
    published: () => published,
    markAway() {
      away()
      retry()
    },
    async close() {
      const closesAtMs = machine.monotonicMs() + CLOSE_TIMEOUT_MS
      while (!queues.every(isIdle)) {
        if (isAway || machine.monotonicMs() > closesAtMs) break
        for (const queue of queues) void send(queue)
        await machine.pause(20)
      }
      away()
      cancelRetry()
      cancelFlush?.()
    },
  }
}

const isIdle = ({ isSending, batch, entries }: PartitionQueue) => !isSending && batch === null && entries.length === 0

function createPartitionQueue(partition: number): PartitionQueue {
  return { partition, entries: [], batch: null, isSending: false }
}
