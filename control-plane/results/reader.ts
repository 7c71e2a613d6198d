import type { ResultBatch } from '../../shared/result.ts'
import { partitionFilter, RESULTS_STREAM } from '../../shared/subjects.ts'
import { monotonicMs, sleep } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import { logNowMs } from '../platform/nats.ts'
import { type OrderedReader, openOrderedReader, type StreamMessage } from '../platform/ordered-reader.ts'
import { beginReading, lookAgain, type ReaderTools, type Reading, savePosition, storeHarvest } from './actions.ts'
import { noteCertificate } from './certificates.ts'
import { decodeBatch, toCounted } from './decode.ts'
import { stepBefore, toleranceOf } from './log-time.ts'
import {
  beginAt,
  countResult,
  type Harvest,
  needsLook,
  newHarvest,
  recallResult,
  restoreAll,
  stepAll,
} from './memory.ts'
import { isCounted, type StreamState } from './start-position.ts'
import { FencedError } from './store.ts'

const SAVE_INTERVAL_MS = 5_000
const MESSAGES_AT_ONCE = 200
const RESULTS_AT_ONCE = 5_000
const SHORTEST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000

export type PartitionReader = {
  id: number
  epoch: number
  /** True when this is not the stream that is being read any more: made anew, or its end lost in a crash. */
  isAstray(stream: StreamState): boolean
  /** These monitors have changed in the database: look before the next result is counted. */
  markStale(monitorIds: string[]): void
  /** Begin anew from the stored position. */
  restart(): void
  /** Stores what has been counted and ends. */
  stop(): Promise<void>
}

/**
 * Reads one partition in order, without acks, from the position that PostgreSQL holds (house, "The flow"). An engine
 * that is away stops it: memory is dropped, and after a pause everything begins anew at the stored position. It ends
 * by itself, and calls `onEnd`, when somebody else has taken the partition.
 */
export function startReader(
  owned: { id: number; epoch: number },
  tools: ReaderTools,
  onEnd: () => void,
): PartitionReader {
  const stopping = new AbortController()
  const stale = new Set<string>()
  let open: OrderedReader | null = null
  let current: Reading | null = null
  let isRestartWanted = false

  const read = async () => {
    isRestartWanted = false
    const reading = await beginReading(tools, owned, stale)
    current = reading
    open = await openOrderedReader(tools.nats, RESULTS_STREAM, partitionFilter(owned.id), reading.start.from)
    try {
      while (!stopping.signal.aborted && !isRestartWanted) {
        await work(reading, await open.take(MESSAGES_AT_ONCE, SAVE_INTERVAL_MS))
      }
      await savePosition(reading)
    } finally {
      current = null
      await open.close()
      open = null
    }
  }

  const ended = readUntil(stopping.signal, read, (err, pauseMs) => {
    tools.meters.restarts.inc()
    tools.log.error({ err, partition: owned.id, pauseMs }, 'a partition stopped; it begins anew')
  }).finally(() => {
    tools.meters.lag.remove({ partition: owned.id })
    tools.meters.held.remove({ partition: owned.id })
    onEnd()
  })

  return {
    id: owned.id,
    epoch: owned.epoch,
    isAstray: stream =>
      current !== null && (stream.created !== current.streamCreated || stream.lastSequence < current.position.sequence),
    markStale: monitorIds => {
      for (const id of monitorIds) stale.add(id)
    },
    restart() {
      isRestartWanted = true
      open?.wake()
    },
    async stop() {
      stopping.abort()
      open?.wake()
      await ended
    },
  }
}

/** Reads again and again until it is stopped or fenced, with growing pauses after errors that follow one another. */
async function readUntil(
  signal: AbortSignal,
  read: () => Promise<void>,
  onError: (error: unknown, pauseMs: number) => void,
): Promise<void> {
  let pauseMs = SHORTEST_PAUSE_MS
  while (!signal.aborted) {
    const startedMs = monotonicMs()
    try {
      await read()
    } catch (error) {
      if (error instanceof FencedError) return
      pauseMs = monotonicMs() - startedMs > LONGEST_PAUSE_MS ? SHORTEST_PAUSE_MS : pauseMs * 2
      onError(error, pauseMs)
      await sleep(Math.min(pauseMs, LONGEST_PAUSE_MS), signal)
    }
  }
}

/** Counts what has come, in portions small enough that other work gets its turn, and stores what has to be stored. */
async function work(reading: Reading, messages: StreamMessage[]): Promise<void> {
  if (reading.stale.size > 0) await lookAtStale(reading)
  let harvest = newHarvest()
  let counted = 0
  for (const message of messages) {
    followClock(reading, message)
    const batch = decode(reading, message)
    const unknown = batch && versionsToLookFor(reading, batch)
    if (unknown || counted >= RESULTS_AT_ONCE) {
      await storeHarvest(reading, harvest)
      harvest = newHarvest()
      counted = 0
      if (unknown) await lookAgain(reading, unknown, { isDiscarded: false, nowMs: message.takenAtMs })
      await new Promise(resolve => setImmediate(resolve))
    }
    if (batch) countBatch(reading, harvest, message, batch)
    counted += batch?.results.length ?? 0
    if (!isCounted(reading.start, message)) {
      reading.position = { sequence: message.sequence, takenAtMs: message.takenAtMs }
    }
  }
  await storeHarvest(reading, harvest)
  reading.tools.meters.lag.set({ partition: reading.partition.id }, messages.at(-1)?.pending ?? 0)
  if (monotonicMs() - reading.saved.atMs >= SAVE_INTERVAL_MS) await savePosition(reading)
}

async function lookAtStale(reading: Reading): Promise<void> {
  const versions = new Map([...reading.stale].map(id => [id, 0]))
  reading.stale.clear()
  await lookAgain(reading, versions, { isDiscarded: false, nowMs: reading.position.takenAtMs })
}

/** Null for a message that is set aside; its neighbours count. */
function decode({ tools }: Reading, message: StreamMessage): ResultBatch | null {
  try {
    return decodeBatch(message.subject, message.data)
  } catch (err) {
    tools.meters.setAside.inc({ what: 'message' })
    tools.log.error({ err, subject: message.subject, sequence: message.sequence }, 'a message was set aside')
    return null
  }
}

/** The monitors that the database has to be asked for before this batch counts; null when there are none. */
function versionsToLookFor({ memory }: Reading, batch: ResultBatch): Map<string, number> | null {
  let versions: Map<string, number> | null = null
  for (const result of batch.results) {
    if (!needsLook(memory, result) || !isId(result.monitorId)) continue
    versions ??= new Map()
    versions.set(result.monitorId, Math.max(versions.get(result.monitorId) ?? 0, result.configVersion))
  }
  return versions
}

/** Where JetStream's clock was set, what is remembered moves with it before the next result counts. */
function followClock({ tools, memory, logTime, partition, restored }: Reading, { takenAtMs }: StreamMessage): void {
  const stepMs = stepBefore(logTime, takenAtMs, monotonicMs(), logNowMs(tools.nats))
  if (stepMs === 0 || restored !== 'for_counting') return
  tools.log.warn({ partition: partition.id, seconds: Math.round(stepMs) / 1_000 }, 'the clock of JetStream was set')
  stepAll(memory, stepMs)
}

function countBatch(reading: Reading, harvest: Harvest, message: StreamMessage, batch: ResultBatch): void {
  const { memory, tools } = reading
  const isRecall = isCounted(reading.start, message)
  const wanted = isRecall ? 'for_recall' : 'for_counting'
  if (reading.restored !== wanted) {
    if (isRecall) restoreAll(memory, message.takenAtMs)
    else beginAt(memory, message.takenAtMs)
    reading.restored = wanted
  }
  const tolerance = toleranceOf(reading.logTime, message.takenAtMs, monotonicMs())
  for (const result of batch.results) {
    try {
      const counted = toCounted(batch, result)
      if (isRecall) recallResult(memory, result.monitorId, counted, message.takenAtMs)
      else {
        countResult(memory, harvest, result.monitorId, counted, message.takenAtMs, tolerance)
        noteCertificate(reading.certificates, harvest.certificates, batch.region, result, message.takenAtMs)
      }
    } catch (err) {
      tools.meters.setAside.inc({ what: 'result' })
      tools.log.error({ err, monitorId: result.monitorId, sequence: message.sequence }, 'a result was set aside')
    }
  }
}
