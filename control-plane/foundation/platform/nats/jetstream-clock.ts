import { CLOCK_STREAM } from '../../../../shared/nats/subjects.ts'
import { newId } from '../ids.ts'
import { monotonicMs } from '../time/clock.ts'
import type { Nats } from './client.ts'
import { ensureClockStream } from './clock-stream.ts'

/** A slower answer is too imprecise. */
const ANSWER_TIMEOUT_MS = 5_000
const subject = `${CLOCK_STREAM}.${newId()}`
const EMPTY_PAYLOAD = new Uint8Array()

/**
 * Learns JetStream's time: publishes a message and reads it back with the time at which it was stored. Returns by how much
 * the clock moved. `replicas`: of a new stream.
 */
export async function syncJetstreamClock(nats: Nats, replicas = 1): Promise<number> {
  const published = await publishClockMessage(nats).catch(async () => {
    // the stream is in memory, so a restart of the server removes it
    await ensureClockStream(nats.manager, replicas)
    return publishClockMessage(nats)
  })
  return learnFrom(nats, published)
}

/** The same for a program that creates no stream: rejects when there is none. */
export async function syncExistingJetstreamClock(nats: Nats): Promise<number> {
  return learnFrom(nats, await publishClockMessage(nats))
}

type PublishedClockMessage = { sentMs: number; receivedMs: number; sequence: number }

async function learnFrom(nats: Nats, { sentMs, receivedMs, sequence }: PublishedClockMessage): Promise<number> {
  const message = await nats.manager.streams.getMessage(CLOCK_STREAM, { seq: sequence })
  if (message === null) throw new Error('the clock message was deleted before it was read')
  return nats.clock.learn(sentMs, receivedMs, parseTimestampMs(message.timestamp))
}

async function publishClockMessage({ js }: Nats): Promise<PublishedClockMessage> {
  const sentMs = monotonicMs()
  const { seq } = await js.publish(subject, EMPTY_PAYLOAD, { timeout: ANSWER_TIMEOUT_MS, retries: 0 })
  return { sentMs, receivedMs: monotonicMs(), sequence: seq }
}

/** RFC 3339 to the nanosecond; a Date has whole milliseconds. */
function parseTimestampMs(timestamp: string): number {
  const fraction = /\.\d{3}(\d+)Z$/.exec(timestamp)?.[1]
  return Date.parse(timestamp) + (fraction ? Number(`0.${fraction}`) : 0)
}
