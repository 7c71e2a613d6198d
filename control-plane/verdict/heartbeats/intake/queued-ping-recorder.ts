import { PINGS_STREAM } from '../../../../shared/nats/subjects.ts'
import type { Nats } from '../../../foundation/platform/nats/client.ts'
import {
  type JsMsg,
  keepInProgress,
  openDurableConsumer,
  waitForMessages,
} from '../../../foundation/platform/nats/durable-consumer.ts'
import { query } from '../../../foundation/platform/postgres/client.ts'
import { withTimeout } from '../../../foundation/platform/time/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'
import { type HeartbeatTools, storePings } from '../actions.ts'
import type { PingArrival } from '../types.ts'
import { decodeQueuedPing } from './queued-ping.ts'

const MESSAGES_PER_FETCH = 500
const IDLE_WAIT_MS = 5_000
/** A ping is stored soon after it arrives, and after the lock of its monitor ends: a heartbeat is evaluated 7 s after its deadline. */
const FETCH_WAIT_MS = 250
/** A process without PostgreSQL returns the messages after this, so that another process stores them. */
const DATABASE_TIMEOUT_MS = 1_000
const RETRY_DELAY_MS = 1_000

type RecorderTools = LoopTools & HeartbeatTools & { nats: Nats }

/**
 * Stores queued pings, which were acknowledged without PostgreSQL (intake-actions.ts), each once. It runs in every
 * process that accepts pings; the processes that reach PostgreSQL do the work.
 */
export function startQueuedPingRecorder(tools: RecorderTools): Loop {
  let consumer: Awaited<ReturnType<typeof openDurableConsumer>> | null = null
  return startLoop('heartbeats-kept', 0, tools, async signal => {
    try {
      consumer ??= await openDurableConsumer(tools.nats, PINGS_STREAM, 'pings')
      while (!signal.aborted) {
        const messages = await waitForMessages(consumer, MESSAGES_PER_FETCH, FETCH_WAIT_MS, signal, IDLE_WAIT_MS)
        if (messages.length > 0) await keepInProgress(messages, storeAll(tools, messages))
      }
    } catch (error) {
      // the stream may have been created again
      consumer = null
      throw error
    }
  })
}

/** Stores the pings of these messages. Those of locked monitors are delivered again after the delay of an error. */
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
      const answer = answers[i]
      if (answer === 'locked') {
        message.nak(RETRY_DELAY_MS)
        continue
      }
      if (answer instanceof Error) tools.log.error({ err: answer, ping_id: arrival.id }, 'set aside an invalid ping')
      message.ack()
    }
  } catch (error) {
    for (const { message } of readable) message.nak(RETRY_DELAY_MS)
    throw error
  }
}

/** Returns null for a message that is not a ping, and removes it from the stream. */
function read({ log }: RecorderTools, message: JsMsg): { message: JsMsg; arrival: PingArrival } | null {
  try {
    return { message, arrival: decodeQueuedPing(message.data) }
  } catch (err) {
    log.error({ err, sequence: message.seq }, 'set aside a message that is not a ping')
    message.term()
    return null
  }
}
