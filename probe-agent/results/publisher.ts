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

/** What the functions of the publisher share. */
type PublisherState = PublisherOptions & {
  /** in the ids of batches, so that those of two runs differ */
  instance: string
  queues: PartitionQueue[]
  isAway: boolean
  /** since when JetStream has stored nothing; null: it stores results */
  failingSinceMs: number | null
  batches: number
  published: number
  cancelRetry: CancelTimer
  cancelFlush: CancelTimer | null
}

/**
 * Publishes results to JetStream in order within a partition. One message per partition is in flight; it is repeated with
 * the same id until it is stored or its results are late (docs/design/probes.md#results).
 */
export function createResultPublisher(options: PublisherOptions): ResultPublisher {
  const publisher: PublisherState = {
    ...options,
    instance: options.machine.uuid(),
    queues: Array.from({ length: PARTITIONS }, (_, partition) => createPartitionQueue(partition)),
    isAway: false,
    failingSinceMs: null,
    batches: 0,
    published: 0,
    cancelRetry() {},
    cancelFlush: null,
  }
  return {
    publish: result => publish(publisher, result),
    markBack() {
      // reset until a publish fails again
      publisher.failingSinceMs = null
      sendAgain(publisher)
    },
    resetAwayTime() {
      publisher.failingSinceMs = null
    },
    isAway: () => publisher.isAway,
    awayMs: () => measureAwayMs(publisher),
    published: () => publisher.published,
    markAway() {
      markStreamAway(publisher)
      retry(publisher)
    },
    close: () => close(publisher),
  }
}

function createPartitionQueue(partition: number): PartitionQueue {
  return { partition, entries: [], batch: null, isSending: false }
}

const isIdle = ({ isSending, batch, entries }: PartitionQueue) => !isSending && batch === null && entries.length === 0

/** Sends a failure immediately, and a success together with others. */
function publish(publisher: PublisherState, result: Result): void {
  const { monitorId } = result
  const queue = publisher.queues[computePartition(monitorId)]!
  const entry: PendingResult = {
    monitorId,
    piece: encodeBatchEntry(result),
    bornMs: publisher.machine.monotonicMs(),
    seq: null,
  }
  queue.entries.push(entry)
  if (publisher.isAway) {
    spoolEntry(publisher, queue, entry)
    if (queue.entries.length > MAX_PARTITION_QUEUE) releaseLate(publisher, queue.entries.shift()!)
  } else if (result.outcome !== Outcome.UP || queue.entries.length >= MAX_BATCH_RESULTS) void send(publisher, queue)
  else publisher.cancelFlush ??= publisher.machine.after(UP_BATCH_DELAY_MS, () => flush(publisher))
}

/** Sends all partitions together, so that their messages share one write and their acks one read. */
function flush(publisher: PublisherState): void {
  publisher.cancelFlush = null
  for (const queue of publisher.queues) if (queue.entries.length > 0) void send(publisher, queue)
}

/** Sends the batches of a partition one after the other, until none is left or JetStream does not store one. */
async function send(publisher: PublisherState, queue: PartitionQueue): Promise<void> {
  const { stream, spool, probeId, region, log } = publisher
  if (queue.isSending) return
  queue.isSending = true
  try {
    for (let batch = nextBatch(publisher, queue); batch; batch = nextBatch(publisher, queue)) {
      const pieces = batch.entries.map(entry => entry.piece)
      await stream.publish(resultSubject(queue.partition, region), encodeBatch(probeId, region, pieces), batch.id)
      queue.batch = null
      publisher.published += batch.entries.length
      for (const { seq } of batch.entries) if (seq !== null) spool.delivered(seq)
      publisher.isAway = false
      publisher.failingSinceMs = null
    }
  } catch (error) {
    if (!publisher.isAway) log.warn({ err: error }, 'JetStream did not store results; they are spooled and retried')
    markStreamAway(publisher)
    retry(publisher)
  } finally {
    queue.isSending = false
  }
}

/** The batch that is not stored yet, or the next one. Results that became late are left to the replay. */
function nextBatch(publisher: PublisherState, queue: PartitionQueue): PendingBatch | null {
  const lateBeforeMs = publisher.machine.monotonicMs() - publisher.lateAfterMs
  if (queue.batch && queue.batch.entries[0]!.bornMs > lateBeforeMs) return queue.batch
  if (queue.batch) queue.entries.unshift(...queue.batch.entries)
  const late = queue.entries.findIndex(entry => entry.bornMs > lateBeforeMs)
  for (const entry of queue.entries.splice(0, late < 0 ? queue.entries.length : late)) {
    spoolEntry(publisher, queue, entry)
    releaseLate(publisher, entry)
  }
  const entries = queue.entries.splice(0, countBatchEntries(queue.entries))
  queue.batch = entries.length > 0 ? { id: `${publisher.instance}-${++publisher.batches}`, entries } : null
  return queue.batch
}

function spoolEntry({ spool, probeId }: PublisherState, queue: PartitionQueue, entry: PendingResult): void {
  entry.seq ??= spool.append({ partition: queue.partition, probeId, piece: entry.piece })
}

function releaseLate({ spool, onLate }: PublisherState, entry: PendingResult): void {
  if (entry.seq !== null) spool.release(entry.seq)
  onLate(entry.monitorId)
}

/** Marks JetStream as away and writes all pending results to disk. */
function markStreamAway(publisher: PublisherState): void {
  publisher.failingSinceMs ??= publisher.machine.monotonicMs()
  publisher.isAway = true
  for (const queue of publisher.queues) {
    for (const entry of queue.batch?.entries ?? []) spoolEntry(publisher, queue, entry)
    for (const entry of queue.entries) spoolEntry(publisher, queue, entry)
  }
}

function retry(publisher: PublisherState): void {
  publisher.cancelRetry()
  publisher.cancelRetry = publisher.machine.after(RETRY_DELAY_MS, () => sendAgain(publisher))
}

/** While JetStream is unavailable a retry is always scheduled; results that arrive meanwhile depend on it. */
function sendAgain(publisher: PublisherState): void {
  const { stream, queues } = publisher
  publisher.cancelRetry()
  // With nothing to send, recovery cannot be detected here; the replay tries instead.
  if (stream.isConnected() && queues.every(isIdle)) publisher.isAway = false
  for (const queue of queues) void send(publisher, queue)
  if (publisher.isAway) retry(publisher)
}

function measureAwayMs({ failingSinceMs, machine }: PublisherState): number {
  return failingSinceMs === null ? 0 : Math.max(1, Math.round(machine.monotonicMs() - failingSinceMs))
}

/** Sends what is pending for at most 3 s, and writes the rest to disk. */
async function close(publisher: PublisherState): Promise<void> {
  const { machine, queues } = publisher
  const closesAtMs = machine.monotonicMs() + CLOSE_TIMEOUT_MS
  while (!queues.every(isIdle)) {
    if (publisher.isAway || machine.monotonicMs() > closesAtMs) break
    for (const queue of queues) void send(publisher, queue)
    await machine.pause(20)
  }
  markStreamAway(publisher)
  publisher.cancelRetry()
  publisher.cancelFlush?.()
}
