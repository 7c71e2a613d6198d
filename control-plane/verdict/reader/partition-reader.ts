import { partitionFilter, RESULTS_STREAM } from '../../../shared/nats/subjects.ts'
import {
  loadStreamState,
  type OrderedReader,
  openOrderedReader,
  type StreamMessage,
} from '../../foundation/platform/nats/ordered-reader.ts'
import { monotonicMs, sleep } from '../../foundation/platform/time/clock.ts'
import { loadCheckpoint, saveCheckpoint } from './checkpoint/checkpoint-actions.ts'
import { limitWaitMs } from './commit/deferred-actions.ts'
import { countMessages, SAVE_INTERVAL_MS } from './message-actions.ts'
import { isReaderAlive, type ReaderLiveness } from './partitions/liveness.ts'
import { FencedError } from './partitions/partition-store.ts'
import type { StreamBounds } from './partitions/start-position.ts'
import {
  type PartitionReading,
  type ReaderTools,
  retryUntilDone,
  savePosition,
  startReading,
} from './reading-actions.ts'
import { clearUncheckedStatuses } from './unchecked/unchecked-actions.ts'

const MESSAGES_PER_FETCH = 200
const MIN_RETRY_DELAY_MS = 250
const MAX_RETRY_DELAY_MS = 5_000

export type PartitionReader = {
  id: number
  epoch: number
  /** True while the server sends messages to this reader, or it processes them. */
  isReading(): boolean
  /** the newest counted message; null while it is unknown */
  position(): number | null
  /** True if the stream is not the one that is being read: it was created again, or lost its end in a crash. */
  isStreamReplaced(stream: StreamBounds): boolean
  /** Marks monitors that were changed in the database: they are read again before the next result counts. */
  markStale(monitorIds: string[]): void
  /** Drops memory and begins again from the stored position. */
  restart(): void
  /** Opens the consumer again; memory is kept. */
  reopen(): void
  /** Stores what has been counted and stops. */
  stop(): Promise<void>
}

/**
 * Reads one partition in order, without acknowledgements, from the position in PostgreSQL
 * (docs/design/results.md#position). A step that fails because of PostgreSQL or NATS is repeated. If that cannot help,
 * memory is dropped and reading begins again at the stored position. The reader stops and calls `onEnd` when another
 * process has taken the partition.
 */
export function startPartitionReader(
  owned: { id: number; epoch: number },
  tools: ReaderTools,
  onEnd: () => void,
): PartitionReader {
  const stopping = new AbortController()
  const stale = new Set<string>()
  const liveness: ReaderLiveness = { atMs: monotonicMs(), workingSinceMs: null }
  let ending = new AbortController()
  let isReopenWanted = false
  let open: OrderedReader | null = null
  let current: PartitionReading | null = null

  /** The reader counts as alive during the work, and with `showsLiveness` for some seconds after it. */
  const whileWorking = async <T>(showsLiveness: boolean, work: () => Promise<T>): Promise<T> => {
    liveness.workingSinceMs = monotonicMs()
    try {
      const done = await work()
      if (showsLiveness) liveness.atMs = monotonicMs()
      return done
    } finally {
      liveness.workingSinceMs = null
    }
  }
  const openAfter = (reading: PartitionReading, from: PartitionReading['start']['from']) =>
    retryUntilDone(reading, () => openOrderedReader(tools.nats, RESULTS_STREAM, partitionFilter(owned.id), from))

  const take = async (from: OrderedReader, waitMs: number): Promise<StreamMessage[]> => {
    try {
      return await from.take(MESSAGES_PER_FETCH, waitMs)
    } catch (err) {
      tools.log.warn({ err, partition: owned.id }, 'the consumer of a partition ended; opening it again')
      isReopenWanted = true
      await sleep(MIN_RETRY_DELAY_MS, ending.signal)
      return []
    }
  }
  const read = async () => {
    ending = new AbortController()
    const { signal } = ending
    if (stopping.signal.aborted) return
    const stream = await loadStreamState(tools.nats, RESULTS_STREAM)
    const reading = await whileWorking(true, async () => {
      const checkpoint = await loadCheckpoint(tools, owned.id)
      return startReading(tools, owned, stream, checkpoint, stale, signal)
    })
    let { from } = reading.start
    current = reading
    try {
      while (!signal.aborted) {
        open = await openAfter(reading, from)
        isReopenWanted = false
        while (!signal.aborted && !isReopenWanted) {
          const messages = await take(open, limitWaitMs(reading, SAVE_INTERVAL_MS))
          const silentMs = monotonicMs() - open.heardAtMs()
          await whileWorking(messages.length > 0, async () => {
            await countMessages(reading, messages)
            await clearUncheckedStatuses(reading, silentMs, messages.length < MESSAGES_PER_FETCH)
          })
          if (messages.length > 0) from = { sequence: messages.at(-1)!.sequence + 1 }
        }
        await open.close()
      }
      await savePosition(reading)
      await saveCheckpoint(reading, true)
    } finally {
      current = null
      await open?.close()
      open = null
    }
  }

  const ended = readUntil(stopping.signal, read, (err, pauseMs) => {
    tools.meters.restarts.inc()
    tools.log.error({ err, partition: owned.id, pauseMs }, 'reading a partition failed; beginning again')
  }).finally(() => {
    tools.meters.held.remove({ partition: owned.id })
    tools.meters.deferred.remove({ partition: owned.id })
    tools.meters.unstored.remove({ partition: owned.id })
    tools.meters.watched.remove({ partition: owned.id })
    onEnd()
  })

  return {
    id: owned.id,
    epoch: owned.epoch,
    isReading: () => isReaderAlive(liveness, open?.heardAtMs() ?? Number.NEGATIVE_INFINITY, monotonicMs()),
    position: () => current?.position.sequence ?? null,
    isStreamReplaced: stream =>
      current !== null && (stream.created !== current.streamCreated || stream.lastSequence < current.position.sequence),
    markStale: monitorIds => {
      for (const id of monitorIds) stale.add(id)
    },
    restart() {
      ending.abort()
      open?.wake()
    },
    reopen() {
      isReopenWanted = true
      open?.wake()
    },
    async stop() {
      stopping.abort()
      ending.abort()
      open?.wake()
      await ended
    },
  }
}

/** Repeats `read` until it is stopped or fenced, with growing pauses after consecutive errors. */
async function readUntil(
  signal: AbortSignal,
  read: () => Promise<void>,
  onError: (error: unknown, pauseMs: number) => void,
): Promise<void> {
  let pauseMs = MIN_RETRY_DELAY_MS
  while (!signal.aborted) {
    const startedMs = monotonicMs()
    try {
      await read()
    } catch (error) {
      if (error instanceof FencedError) return
      if (signal.aborted) return
      pauseMs = monotonicMs() - startedMs > MAX_RETRY_DELAY_MS ? MIN_RETRY_DELAY_MS : pauseMs * 2
      onError(error, pauseMs)
      await sleep(Math.min(pauseMs, MAX_RETRY_DELAY_MS), signal)
    }
  }
}
