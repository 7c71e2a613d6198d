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
import { isReaderAlive, mayReopen, type ReaderLiveness } from './partitions/liveness.ts'
import { FencedError } from './partitions/partition-store.ts'
import type { StreamBounds } from './partitions/start-position.ts'
import {
  type PartitionReading,
  type ReaderTools,
  retryUntilDone,
  savePosition,
  startReading,
} from './reading-actions.ts'
import { computeCompleteMs, hasReadAll } from './unchecked/unchecked.ts'
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
  /** for how long it has seen everything that was published and stored what it decided, in ms; null: not now */
  completeMs(): number | null
  /** True if the stream is not the one that is being read: it was created again, or lost its end in a crash. */
  isStreamReplaced(stream: StreamBounds): boolean
  /** Marks monitors that were changed in the database: they are read again before the next result counts. */
  markStale(monitorIds: string[]): void
  /** Drops memory and begins again from the stored position. */
  restart(): void
  /** Opens the consumer again, unless it was opened in the last seconds; memory is kept. */
  reopen(): void
  /** Stores what has been counted and stops. */
  stop(): Promise<void>
}

/** The state of a reader, over all its starts. */
type ReaderState = {
  owned: { id: number; epoch: number }
  tools: ReaderTools
  /** aborted when the reader stops */
  stopping: AbortController
  /** aborted when the current reading has to end; the next one begins at the stored position */
  ending: AbortController
  /** monitors to read again before the next result counts */
  stale: Set<string>
  liveness: ReaderLiveness
  /** the open consumer; null between two readings */
  consumer: OrderedReader | null
  /** when a consumer was last opened, by the monotonic clock */
  openedAtMs: number
  /** whether the consumer has to be opened again */
  isReopenWanted: boolean
  /** null until the partition is loaded */
  current: PartitionReading | null
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
  const state: ReaderState = {
    owned,
    tools,
    stopping: new AbortController(),
    ending: new AbortController(),
    stale: new Set(),
    liveness: { atMs: monotonicMs(), workingSinceMs: null },
    consumer: null,
    openedAtMs: Number.NEGATIVE_INFINITY,
    isReopenWanted: false,
    current: null,
  }
  const ended = readUntilStopped(state).finally(() => {
    removeMetrics(state)
    onEnd()
  })
  return {
    id: owned.id,
    epoch: owned.epoch,
    isReading: () => isReading(state),
    position: () => state.current?.position.sequence ?? null,
    completeMs: () =>
      state.current && computeCompleteMs(state.current.coverage, state.liveness.workingSinceMs, monotonicMs()),
    isStreamReplaced: stream => isStreamReplaced(state, stream),
    markStale: monitorIds => {
      for (const id of monitorIds) state.stale.add(id)
    },
    restart() {
      state.ending.abort()
      state.consumer?.wake()
    },
    reopen() {
      if (!mayReopen(state.openedAtMs, monotonicMs())) return
      state.isReopenWanted = true
      state.consumer?.wake()
    },
    async stop() {
      state.stopping.abort()
      state.ending.abort()
      state.consumer?.wake()
      await ended
    },
  }
}

const isReading = ({ liveness, consumer }: ReaderState) =>
  isReaderAlive(liveness, consumer?.lastMessageAtMs() ?? Number.NEGATIVE_INFINITY, monotonicMs())

const isStreamReplaced = ({ current }: ReaderState, stream: StreamBounds) =>
  current !== null && (stream.created !== current.streamCreated || stream.lastSequence < current.position.sequence)

function removeMetrics({ tools: { metrics }, owned }: ReaderState): void {
  for (const gauge of [metrics.held, metrics.deferred, metrics.unstored, metrics.watched])
    gauge.remove({ partition: owned.id })
}

/** Reads until the reader is stopped or fenced, with growing pauses after consecutive errors. */
async function readUntilStopped(state: ReaderState): Promise<void> {
  const { tools, owned } = state
  const { signal } = state.stopping
  let pauseMs = MIN_RETRY_DELAY_MS
  while (!signal.aborted) {
    const startedMs = monotonicMs()
    try {
      await read(state)
    } catch (err) {
      if (err instanceof FencedError) return
      if (signal.aborted) return
      pauseMs = monotonicMs() - startedMs > MAX_RETRY_DELAY_MS ? MIN_RETRY_DELAY_MS : pauseMs * 2
      tools.metrics.restarts.inc()
      tools.log.error({ err, partition: owned.id, pauseMs }, 'reading a partition failed; beginning again')
      await sleep(Math.min(pauseMs, MAX_RETRY_DELAY_MS), signal)
    }
  }
}

/** One reading: loads the partition, counts its messages until the reading has to end, and stores what was counted. */
async function read(state: ReaderState): Promise<void> {
  state.ending = new AbortController()
  if (state.stopping.signal.aborted) return
  const reading = await load(state, state.ending.signal)
  state.current = reading
  try {
    await countUntilEnd(state, reading)
    await savePosition(reading)
    await saveCheckpoint(reading, true)
  } finally {
    state.current = null
    await state.consumer?.close()
    state.consumer = null
  }
}

async function load(state: ReaderState, signal: AbortSignal): Promise<PartitionReading> {
  const { tools, owned, stale } = state
  const stream = await loadStreamState(tools.nats, RESULTS_STREAM)
  return whileWorking(state, true, async () => {
    const checkpoint = await loadCheckpoint(tools, owned.id)
    return startReading(tools, owned, stream, checkpoint, stale, signal)
  })
}

/** Counts the messages of one consumer after another. Each begins after the last counted message. */
async function countUntilEnd(state: ReaderState, reading: PartitionReading): Promise<void> {
  const { tools, owned } = state
  const { signal } = reading
  let { from } = reading.start
  while (!signal.aborted) {
    const consumer = await retryUntilDone(reading, () =>
      openOrderedReader(tools.nats, RESULTS_STREAM, partitionFilter(owned.id), from),
    )
    state.consumer = consumer
    state.openedAtMs = monotonicMs()
    state.isReopenWanted = false
    while (!signal.aborted && !state.isReopenWanted) {
      const messages = await countNext(state, reading, consumer)
      if (messages.length > 0) from = { sequence: messages.at(-1)!.sequence + 1 }
    }
    await consumer.close()
  }
}

/** Waits for the next messages, counts them, and clears the statuses of unchecked monitors. */
async function countNext(
  state: ReaderState,
  reading: PartitionReading,
  consumer: OrderedReader,
): Promise<StreamMessage[]> {
  const messages = await take(state, consumer, limitWaitMs(reading, SAVE_INTERVAL_MS))
  const silentMs = monotonicMs() - consumer.lastMessageAtMs()
  await whileWorking(state, messages.length > 0, async () => {
    await countMessages(reading, messages)
    await clearUncheckedStatuses(reading, silentMs, hasReadAll(messages))
  })
  return messages
}

async function take(state: ReaderState, consumer: OrderedReader, waitMs: number): Promise<StreamMessage[]> {
  const { tools, owned } = state
  try {
    return await consumer.take(MESSAGES_PER_FETCH, waitMs)
  } catch (err) {
    tools.log.warn({ err, partition: owned.id }, 'the consumer of a partition ended; opening it again')
    state.isReopenWanted = true
    await sleep(MIN_RETRY_DELAY_MS, state.ending.signal)
    return []
  }
}

/** The reader counts as alive during the work, and with `showsLiveness` for some seconds after it. */
async function whileWorking<T>({ liveness }: ReaderState, showsLiveness: boolean, work: () => Promise<T>): Promise<T> {
  liveness.workingSinceMs = monotonicMs()
  try {
    const done = await work()
    if (showsLiveness) liveness.atMs = monotonicMs()
    return done
  } finally {
    liveness.workingSinceMs = null
  }
}
