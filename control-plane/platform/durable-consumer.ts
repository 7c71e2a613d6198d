import { AckPolicy, type Consumer, type JsMsg } from '@nats-io/jetstream'
import type { Nats } from './nats.ts'

export type { JsMsg }

/**
 * A durable consumer with explicit acks over a whole stream, made where it is missing; any number of processes share
 * it. What is not acked within a minute comes again.
 */
export async function durableConsumer(nats: Nats, stream: string, name: string): Promise<Consumer> {
  await nats.manager.consumers.add(stream, {
    durable_name: name,
    ack_policy: AckPolicy.Explicit,
    ack_wait: 60 * 1_000_000_000,
    max_ack_pending: 10_000,
  })
  return nats.js.consumers.get(stream, name)
}

/**
 * Messages that are there, at most `maxMessages`; waits up to `maxWaitMs` for the first. What had come before the
 * fetching failed, as it does when this process is held for a second, is returned: else it would come again after a
 * minute only. Throws when nothing had come.
 */
export async function fetchMessages(consumer: Consumer, maxMessages: number, maxWaitMs: number): Promise<JsMsg[]> {
  const messages: JsMsg[] = []
  const fetched = await consumer.fetch({ max_messages: maxMessages, expires: maxWaitMs })
  try {
    for await (const message of fetched) messages.push(message)
  } catch (error) {
    if (messages.length === 0) throw error
  }
  return messages
}
