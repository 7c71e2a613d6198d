import { type ConsumerMessages, DeliverPolicy, type JsMsg } from '@nats-io/jetstream'
import { monotonicMs } from '../time/clock.ts'
import { setCoalescedTimeout } from '../time/coalesced-timers.ts'
import type { Nats } from './client.ts'

export type StreamMessage = {
  subject: string
  data: Uint8Array
  /** position in the stream */
  sequence: number
  /** when JetStream stored it, ms since 1970 by the server's clock */
  takenAtMs: number
  /** how many messages of the consumer followed it when it was sent */
  pending: number
}

export type OrderedReader = {
  /** The messages that are ready, in order, at most `limit`. Waits up to `waitMs` for the first, and may return none. */
  take(limit: number, waitMs: number): Promise<StreamMessage[]>
  /** Ends the wait of a `take` now. */
  wake(): void
  /**
   * When the server last sent a message or an idle heartbeat for this consumer, by the monotonic clock; -Infinity before
   * the first time. While messages wait in the queue, nothing new may arrive.
   */
  lastMessageAtMs(): number
  close(): Promise<void>
}

/** The interval of the server's heartbeats when it has nothing to send. */
const IDLE_HEARTBEAT_MS = 2_000

/**
 * Messages that are in flight, for each of 16 partitions. Replies of NATS to other requests wait behind them on the same
 * connection: with ten times as many, requests of a process with a large backlog timed out, and it started again.
 */
const MAX_FETCHED_AHEAD = 64
const MAX_QUEUED = 128
/** A shorter wait is exact. */
const MIN_COALESCED_WAIT_MS = 5_000

/**
 * Reads a subject of a stream in order and without acknowledgements, from a sequence or a time on. The client library
 * repairs gaps and lost connections; when it gives up, `take` throws. It fetches no more messages than the queue holds.
 */
export async function openOrderedReader(
  nats: Nats,
  stream: string,
  filterSubject: string,
  from: { sequence: number } | { timeMs: number },
): Promise<OrderedReader> {
  const start =
    'sequence' in from
      ? { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: from.sequence }
      : { deliver_policy: DeliverPolicy.StartTime, opt_start_time: new Date(from.timeMs).toISOString() }
  // one filter as a string, because server 2.9 refuses a list
  const consumer = await nats.js.consumers.get(stream, { filter_subjects: filterSubject, ...start })
  const messages = await consumer.consume({
    max_messages: MAX_FETCHED_AHEAD,
    expires: 30_000,
    idle_heartbeat: IDLE_HEARTBEAT_MS,
  })
  return createQueuedReader(messages)
}

/** Reports of the client library that prove an answer of the server. */
const FROM_SERVER: ReadonlySet<string> = new Set(['heartbeat', 'discard', 'debug', 'ordered_consumer_recreated'])

function createQueuedReader(messages: ConsumerMessages): OrderedReader {
  const queue: StreamMessage[] = []
  let ended: Error | null = null
  let arrived: (() => void) | null = null
  let drained: (() => void) | null = null
  let lastMessageAtMs = Number.NEGATIVE_INFINITY

  const followStatus = async () => {
    for await (const { type } of messages.status()) if (FROM_SERVER.has(type)) lastMessageAtMs = monotonicMs()
  }
  void followStatus()
  const pump = async () => {
    for await (const message of messages) {
      lastMessageAtMs = monotonicMs()
      queue.push(toStreamMessage(message))
      arrived?.()
      if (queue.length >= MAX_QUEUED) {
        await new Promise<void>(resolve => {
          drained = resolve
        })
      }
    }
  }
  const ending = pump()
    .then(() => new Error('the ordered reader ended'))
    .catch(error => error as Error)
    .then(error => {
      ended = error
      arrived?.()
    })

  return {
    async take(limit, waitMs) {
      if (queue.length === 0 && !ended) await arrival(waitMs)
      // one turn of the event loop, so that everything that arrived with the first message is taken together
      if (queue.length > 0) await new Promise(resolve => setImmediate(resolve))
      if (queue.length === 0 && ended) throw ended
      const taken = queue.splice(0, limit)
      if (queue.length < MAX_QUEUED / 2) drained?.()
      return taken
    },
    wake: () => arrived?.(),
    lastMessageAtMs: () => lastMessageAtMs,
    async close() {
      drained?.()
      queue.length = 0
      await messages.close()
      drained?.()
      await ending
    },
  }

  function arrival(waitMs: number): Promise<void> {
    return new Promise(resolve => {
      const finish = () => {
        cancel()
        arrived = null
        resolve()
      }
      const timer = waitMs < MIN_COALESCED_WAIT_MS ? setTimeout(finish, waitMs) : null
      const cancel = timer ? () => clearTimeout(timer) : setCoalescedTimeout(waitMs, finish)
      arrived = finish
    })
  }
}

function toStreamMessage(message: JsMsg): StreamMessage {
  const { streamSequence, timestampNanos, pending } = message.info
  return {
    subject: message.subject,
    data: message.data,
    sequence: streamSequence,
    takenAtMs: Math.floor(timestampNanos / 1_000_000),
    pending,
  }
}

/** The newest message on a subject, which may contain wildcards; null when there is none. */
export async function findLastMessage(
  nats: Nats,
  stream: string,
  subject: string,
): Promise<{ sequence: number; takenAtMs: number } | null> {
  const message = await nats.manager.streams.getMessage(stream, { last_by_subj: subject })
  return message && { sequence: message.seq, takenAtMs: message.time.getTime() }
}

type StreamState = {
  /** differs when the stream was created again */
  created: string
  /** of the oldest message that still exists */
  firstSequence: number
  lastSequence: number
  /** when its newest message was stored */
  lastAtMs: number
}

export async function loadStreamState(nats: Nats, stream: string): Promise<StreamState> {
  const { created, state } = await nats.manager.streams.info(stream)
  const { first_seq: firstSequence, last_seq: lastSequence, last_ts } = state
  return { created: String(created), firstSequence, lastSequence, lastAtMs: Date.parse(String(last_ts)) }
}

/** When the message with this sequence was stored, ms since 1970; null: there is none. */
export async function findTakenAtMs(nats: Nats, stream: string, sequence: number): Promise<number | null> {
  const message = sequence > 0 ? await nats.manager.streams.getMessage(stream, { seq: sequence }) : null
  return message && Date.parse(message.timestamp)
}
