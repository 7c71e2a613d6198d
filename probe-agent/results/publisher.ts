import { Outcome, type Result } from '../../shared/checks/result.ts'
import { computePartition, PARTITIONS, resultSubject } from '../../shared/nats/subjects.ts'
import type { Log } from '../../shared/process/log.ts'
import type { CancelTimer, Machine } from '../clock.ts'
import { countBatchEntries, encodeBatch, encodeBatchEntry, MAX_BATCH_RESULTS } from './batch.ts'
import type { ResultStream } from './nats.ts'
import type { Spool } from './spool.ts'

export type PublisherOptions = {
  stream: ResultStream
  spool: Spool
  probeId: string
  region: string
  machine: Machine
  /** a result older than this is late: the replay's work (decisions 11.2: 30 s) */
  lateAfterMs: number
  /** a result of this monitor became late, so that it counts for no verdict */
  onLate: (monitorId: string) => void
  log: Log
}

export type ResultPublisher = {
  publish: (result: Result) => void
  /** NATS went away: what waits is written to disk. */
  markAway: () => void
  /** NATS came back: what waits is sent. */
  markBack: () => void
  /** JetStream has taken something else of this probe. */
  resetAwayTime: () => void
  isAway: () => boolean
  /** for how long JetStream has taken nothing, in ms; 0 while it takes results */
  awayMs: () => number
  /** results that JetStream took since the start */
  published: () => number
  /** Sends what waits; what is not taken in time goes to the spool. */
  close: () => Promise<void>
}

/** `seq`: its number in the spool, null while it is in memory only. */
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
/** Results of one partition held in memory; while NATS is away the spool has them as well. */
const MAX_PARTITION_QUEUE = 5000

/**
 * Sends results to JetStream, in their order within a partition: one message of a partition is under way at a time, and
 * it is repeated with the same id until it is stored or its results are late (decisions 11.2).
 */
export function createResultPublisher(parts: PublisherOptions): ResultPublisher {
  const { stream, spool, probeId, region, machine, lateAfterMs, onLate, log } = parts
  const instance = machine.uuid()
  const lanes = Array.from({ length: PARTITIONS }, (_, partition): PartitionQueue => createPartitionQueue(partition))
  let isAway = false
  /** since when JetStream has taken nothing; null: it takes results */
  let failingSinceMs: number | null = null
  let batches = 0
  let published = 0
  let unretry: CancelTimer = () => {}
  let unflush: CancelTimer | null = null

  function publish(result: Result): void {
    const { monitorId } = result
    const lane = lanes[computePartition(monitorId)]!
    const entry: PendingResult = {
      monitorId,
      piece: encodeBatchEntry(result),
      bornMs: machine.monotonicMs(),
      seq: null,
    }
    lane.entries.push(entry)
    if (isAway) {
      keep(lane, entry)
      if (lane.entries.length > MAX_PARTITION_QUEUE) giveUp(lane.entries.shift()!)
    } else if (result.outcome !== Outcome.UP || lane.entries.length >= MAX_BATCH_RESULTS) void send(lane)
    else unflush ??= machine.after(UP_BATCH_DELAY_MS, flush)
  }

  /** All partitions together: their messages go out in one write, and their acks come in one read. */
  function flush(): void {
    unflush = null
    for (const lane of lanes) if (lane.entries.length > 0) void send(lane)
  }

  async function send(lane: PartitionQueue): Promise<void> {
    if (lane.isSending) return
    lane.isSending = true
    try {
      for (let batch = nextBatch(lane); batch; batch = nextBatch(lane)) {
        const bytes = encodeBatch(
          probeId,
          region,
          batch.entries.map(entry => entry.piece),
        )
        await stream.publish(resultSubject(lane.partition, region), bytes, batch.id)
        lane.batch = null
        published += batch.entries.length
        for (const { seq } of batch.entries) if (seq !== null) spool.delivered(seq)
        isAway = false
        failingSinceMs = null
      }
    } catch (error) {
      if (!isAway) log.warn({ err: error }, 'JetStream did not take results; they are kept')
      away()
      retry()
    } finally {
      lane.isSending = false
    }
  }

  /** The batch that was not taken yet, or the next one. Results that grew late meanwhile are left to the replay. */
  function nextBatch(lane: PartitionQueue): PendingBatch | null {
    const lateBeforeMs = machine.monotonicMs() - lateAfterMs
    if (lane.batch && lane.batch.entries[0]!.bornMs > lateBeforeMs) return lane.batch
    if (lane.batch) lane.entries.unshift(...lane.batch.entries)
    const late = lane.entries.findIndex(entry => entry.bornMs > lateBeforeMs)
    for (const entry of lane.entries.splice(0, late < 0 ? lane.entries.length : late)) {
      keep(lane, entry)
      giveUp(entry)
    }
    const entries = lane.entries.splice(0, countBatchEntries(lane.entries))
    lane.batch = entries.length > 0 ? { id: `${instance}-${++batches}`, entries } : null
    return lane.batch
  }

  function keep(lane: PartitionQueue, entry: PendingResult): void {
    entry.seq ??= spool.append({ partition: lane.partition, probeId, piece: entry.piece })
  }

  function giveUp(entry: PendingResult): void {
    if (entry.seq !== null) spool.release(entry.seq)
    onLate(entry.monitorId)
  }

  function away(): void {
    failingSinceMs ??= machine.monotonicMs()
    isAway = true
    for (const lane of lanes) {
      for (const entry of lane.batch?.entries ?? []) keep(lane, entry)
      for (const entry of lane.entries) keep(lane, entry)
    }
  }

  function retry(): void {
    unretry()
    unretry = machine.after(RETRY_DELAY_MS, sendAgain)
  }

  /** While NATS is away there is always a next try: what comes in the meantime relies on it. */
  function sendAgain(): void {
    unretry()
    // With nothing to send nobody would find out; then the replay does.
    if (stream.isConnected() && lanes.every(isIdle)) isAway = false
    for (const lane of lanes) void send(lane)
    if (isAway) retry()
  }

  return {
    publish,
    markBack() {
      // connected again, and nothing says yet that JetStream takes nothing
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
      while (!lanes.every(isIdle)) {
        if (isAway || machine.monotonicMs() > closesAtMs) break
        for (const lane of lanes) void send(lane)
        await machine.pause(20)
      }
      away()
      unretry()
      unflush?.()
    },
  }
}

const isIdle = ({ isSending, batch, entries }: PartitionQueue) => !isSending && batch === null && entries.length === 0

function createPartitionQueue(partition: number): PartitionQueue {
  return { partition, entries: [], batch: null, isSending: false }
}
