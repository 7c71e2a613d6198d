import { PINGS_STREAM } from '../../../../shared/nats/subjects.ts'
import type { Nats } from '../../../foundation/platform/nats/client.ts'
import {
  fetchMessages,
  type JsMsg,
  keepInProgress,
  openDurableConsumer,
} from '../../../foundation/platform/nats/durable-consumer.ts'
import { query } from '../../../foundation/platform/postgres/client.ts'
import { withTimeout } from '../../../foundation/platform/time/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'
import { type HeartbeatTools, storePings } from '../actions.ts'
import type { PingArrival } from '../types.ts'
import { decodeQueuedPing } from './queued-ping.ts'

const MESSAGES_PER_FETCH = 500
const FETCH_TIMEOUT_MS = 5_000
/** A process that cannot commit returns the messages at once, so that another process stores them. */
const DATABASE_TIMEOUT_MS = 1_000
const RETRY_DELAY_MS = 1_000

type RecorderTools = LoopTools & HeartbeatTools & { nats: Nats }

/**
 * Stores the pings that were acknowledged while a process had no PostgreSQL (keep-actions.ts), each once. It runs in each
 * process that takes pings, and whichever of them has PostgreSQL does the work.
 */
export function startQueuedPingRecorder(tools: RecorderTools): Loop {
  let consumer: Awaited<ReturnType<typeof openDurableConsumer>> | null = null
  return startLoop('heartbeats-kept', 0, tools, async signal => {
    try {
      consumer ??= await openDurableConsumer(tools.nats, PINGS_STREAM, 'pings')
      while (!signal.aborted) {
        const messages = await fetchMessages(consumer, MESSAGES_PER_FETCH, FETCH_TIMEOUT_MS)
        if (messages.length > 0) await keepInProgress(messages, storeAll(tools, messages))
      }
    } catch (error) {
      // the stream may have been created again meanwhile
      consumer = null
      throw error
    }
  })
}

async function storeAll(tools: RecorderTools, messages: JsMsg[]): Promise<void> {
  const readable = messages.flatMap(message => read(tools, message) ?? [])
  try {
    const answer = await withTimeout(query(tools.db, 'SELECT 1'), DATABASE_TIMEOUT_MS)
    if (answer === null) throw new Error('PostgreSQL did not answer in time')
    const answers = await storePings(
      tools,
      readable.map(({ arrival }) => arrival),
    )
    for (const [i, { message, arrival }] of readable.entries()) {
      const refusal = answers[i]
      if (refusal instanceof Error) tools.log.error({ err: refusal, ping_id: arrival.id }, 'a kept ping was set aside')
      message.ack()
    }
  } catch (error) {
    for (const { message } of readable) message.nak(RETRY_DELAY_MS)
    throw error
  }
}

/** Null for a message that is not a ping; it is set aside. */
function read({ log }: RecorderTools, message: JsMsg): { message: JsMsg; arrival: PingArrival } | null {
  try {
    return { message, arrival: decodeQueuedPing(message.data) }
  } catch (err) {
    log.error({ err, sequence: message.seq }, 'a message of the pings was set aside')
    message.term()
    return null
  }
}
