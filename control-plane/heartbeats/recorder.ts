import { PINGS_STREAM } from '../../shared/subjects.ts'
import { inTime } from '../platform/clock.ts'
import { durableConsumer, fetchMessages, type JsMsg, keepInHand } from '../platform/durable-consumer.ts'
import { type Loop, type LoopTools, startLoop } from '../platform/loop.ts'
import type { Nats } from '../platform/nats.ts'
import { query } from '../platform/postgres.ts'
import { type HeartbeatTools, takePings } from './actions.ts'
import { decodeKept } from './kept-ping.ts'
import type { Arrival } from './types.ts'

const MESSAGES_AT_ONCE = 500
const FETCH_WAIT_MS = 5_000
/** A process that cannot commit returns the messages at once, so that another process stores them. */
const DATABASE_WITHIN_MS = 1_000
const RETRY_AFTER_MS = 1_000

type RecorderTools = LoopTools & HeartbeatTools & { nats: Nats }

/**
 * Stores the pings that were acknowledged while a process had no PostgreSQL (keep-actions.ts), each once. It runs in each
 * process that takes pings, and whichever of them has PostgreSQL does the work.
 */
export function startKeptPingRecorder(tools: RecorderTools): Loop {
  let consumer: Awaited<ReturnType<typeof durableConsumer>> | null = null
  return startLoop('heartbeats-kept', 0, tools, async signal => {
    try {
      consumer ??= await durableConsumer(tools.nats, PINGS_STREAM, 'pings')
      while (!signal.aborted) {
        const messages = await fetchMessages(consumer, MESSAGES_AT_ONCE, FETCH_WAIT_MS)
        if (messages.length > 0) await keepInHand(messages, storeAll(tools, messages))
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
    const answer = await inTime(query(tools.db, 'SELECT 1'), DATABASE_WITHIN_MS)
    if (answer === null) throw new Error('PostgreSQL did not answer in time')
    const answers = await takePings(
      tools,
      readable.map(({ arrival }) => arrival),
    )
    for (const [i, { message, arrival }] of readable.entries()) {
      const refusal = answers[i]
      if (refusal instanceof Error) tools.log.error({ err: refusal, ping_id: arrival.id }, 'a kept ping was set aside')
      message.ack()
    }
  } catch (error) {
    for (const { message } of readable) message.nak(RETRY_AFTER_MS)
    throw error
  }
}

/** Null for a message that is not a ping; it is set aside. */
function read({ log }: RecorderTools, message: JsMsg): { message: JsMsg; arrival: Arrival } | null {
  try {
    return { message, arrival: decodeKept(message.data) }
  } catch (err) {
    log.error({ err, sequence: message.seq }, 'a message of the pings was set aside')
    message.term()
    return null
  }
}
