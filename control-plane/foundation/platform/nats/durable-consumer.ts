import { AckPolicy, type Consumer, type JsMsg } from '@nats-io/jetstream'
import { sleep } from '../time/clock.ts'
import type { Nats } from './client.ts'

export type { JsMsg }

/** A message that was lost, or whose process died, is delivered again after this time. */
const ACK_WAIT_MS = 10_000
/** A process that still works on its messages signals it this often; four signals may be lost. */
const PROGRESS_INTERVAL_MS = 2_000

/**
 * A durable consumer with explicit acknowledgements over a whole stream. It is created when it is missing, and updated when
 * an earlier release created it with other settings. Any number of processes share it. Longer work must use
 * `keepInProgress`, or the messages are delivered again meanwhile.
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

/** The server ends a fetch after its wait. A client whose connection breaks meanwhile would not notice, so it waits this long. */
const FETCH_TIMEOUT_MS = 2_000
/** In a longer wait, a request that the server has lost is noticed after two of these. */
const IDLE_HEARTBEAT_MS = 2_500

/**
 * Available messages, at most `maxMessages`; waits up to `maxWaitMs` for the first. Messages that arrived before the fetch
 * failed, for example because this process was suspended for a second, are returned; otherwise they would be delivered
 * again only after ten seconds. Throws when none arrived and the fetch failed or did not end in time. Aborting `signal`
 * ends the wait.
 */
export async function fetchMessages(
  consumer: Consumer,
  maxMessages: number,
  maxWaitMs: number,
  signal?: AbortSignal,
): Promise<JsMsg[]> {
  const messages: JsMsg[] = []
  const heartbeats = maxWaitMs > 2 * IDLE_HEARTBEAT_MS ? { idle_heartbeat: IDLE_HEARTBEAT_MS } : {}
  const fetched = await consumer.fetch({ max_messages: maxMessages, expires: maxWaitMs, ...heartbeats })
  const overdue = new Error('JetStream did not end a fetch in time')
  const timer = setTimeout(() => fetched.stop(overdue), maxWaitMs + FETCH_TIMEOUT_MS)
  const stop = () => fetched.stop()
  signal?.addEventListener('abort', stop)
  if (signal?.aborted) stop()
  try {
    for await (const message of fetched) messages.push(message)
  } catch (error) {
    if (messages.length === 0) throw error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
  return messages
}

/** How long a request for messages waits at the server while nothing comes. */
const IDLE_WAIT_MS = 15_000

/**
 * The same for an idle stream: one request in 15 seconds, and then everything that arrives within `maxWaitMs` after the
 * first message. `idleWaitMs` is the wait for the first message.
 */
export async function waitForMessages(
  consumer: Consumer,
  maxMessages: number,
  maxWaitMs: number,
  signal?: AbortSignal,
  idleWaitMs = IDLE_WAIT_MS,
): Promise<JsMsg[]> {
  const first = await fetchMessages(consumer, 1, idleWaitMs, signal)
  if (first.length === 0 || maxMessages === 1) return first
  const others = await fetchMessages(consumer, maxMessages - 1, maxWaitMs).catch(() => [])
  return [...first, ...others]
}

/** The result of `work`. Until it ends, none of `messages` is delivered again, except those that `work` acknowledged or rejected. */
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
