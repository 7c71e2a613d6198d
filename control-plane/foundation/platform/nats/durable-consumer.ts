import { AckPolicy, type Consumer, type JsMsg } from '@nats-io/jetstream'
import { sleep } from '../time/clock.ts'
import type { Nats } from './client.ts'

export type { JsMsg }

/** What was lost on its way, or was in the hands of a process that died, comes again after this time. */
const ACK_WAIT_MS = 10_000
/** A process that still works on its messages says so this often: four such signals may be lost. */
const PROGRESS_INTERVAL_MS = 2_000

/**
 * A durable consumer with explicit acks over a whole stream. It is made where it is missing and changed where an
 * earlier release made it otherwise; any number of processes share it. What takes longer than a moment is given to
 * `keepInHand`, or it comes again while it is being worked on.
 */
export async function openDurableConsumer(nats: Nats, stream: string, name: string): Promise<Consumer> {
  await nats.manager.consumers.add(stream, {
    durable_name: name,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ACK_WAIT_MS * 1_000_000,
    max_ack_pending: 10_000,
  })
  return nats.js.consumers.get(stream, name)
}

/** The server ends a fetch after its wait; a client whose connection breaks meanwhile would never hear of it. */
const FETCH_TIMEOUT_MS = 2_000

/**
 * Messages that are there, at most `maxMessages`; waits up to `maxWaitMs` for the first. What had come before the
 * fetching failed, as it does when this process is held for a second, is returned: else it would come again only after
 * ten seconds. Throws when nothing had come and the fetch failed, or did not end in time.
 */
export async function fetchMessages(consumer: Consumer, maxMessages: number, maxWaitMs: number): Promise<JsMsg[]> {
  const messages: JsMsg[] = []
  const fetched = await consumer.fetch({ max_messages: maxMessages, expires: maxWaitMs })
  const overdue = new Error('JetStream did not end a fetch in time')
  const timer = setTimeout(() => fetched.stop(overdue), maxWaitMs + FETCH_TIMEOUT_MS)
  try {
    for await (const message of fetched) messages.push(message)
  } catch (error) {
    if (messages.length === 0) throw error
  } finally {
    clearTimeout(timer)
  }
  return messages
}

/** How long a request for messages waits at the server while nothing comes. */
const IDLE_WAIT_MS = 5_000

/** The same for a stream on which nothing came lately: one request in five seconds, and all that comes in `maxWaitMs` after the first message. */
export async function waitForMessages(consumer: Consumer, maxMessages: number, maxWaitMs: number): Promise<JsMsg[]> {
  const first = await fetchMessages(consumer, 1, IDLE_WAIT_MS)
  if (first.length === 0 || maxMessages === 1) return first
  const others = await fetchMessages(consumer, maxMessages - 1, maxWaitMs).catch(() => [])
  return [...first, ...others]
}

/** What `work` answers. Until it ends, none of `messages` is sent again; those that were acked or put off are left alone. */
export async function keepInProgress<T>(messages: JsMsg[], work: Promise<T>): Promise<T> {
  if (messages.length === 0) return work
  const ended = new AbortController()
  const signalling = signalProgressUntil(ended.signal, messages)
  try {
    return await work
  } finally {
    ended.abort()
    await signalling
  }
}

async function signalProgressUntil(ended: AbortSignal, messages: JsMsg[]): Promise<void> {
  for (;;) {
    await sleep(PROGRESS_INTERVAL_MS, ended)
    if (ended.aborted) return
    for (const message of messages) message.working()
  }
}
