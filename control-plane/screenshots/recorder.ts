import { Screenshot, ScreenshotKind } from '../../proto/gen/probe/v1/screenshot.ts'
import { SHOTS_STREAM } from '../../shared/subjects.ts'
import { createNoteForeign, type NoteForeign } from '../monitors/foreign-actions.ts'
import { awaitMessages, durableConsumer, type JsMsg, keepInHand } from '../platform/durable-consumer.ts'
import { type Loop, type LoopTools, startLoop } from '../platform/loop.ts'
import { isRefusedRow } from '../platform/postgres.ts'
import { type Kept, keepScreenshot, type ScreenshotTools } from './actions.ts'
import { type Arrived, faultOf } from './arrived.ts'
import { PictureError } from './compare.ts'

const MESSAGES_AT_ONCE = 10
const FETCH_WAIT_MS = 1_000
/** The store or the database is away: the same message comes again so much later. */
const RETRY_AFTER_MS = 2_000

/**
 * Moves screenshots from the stream into the object store, with acks, one after another. What cannot be kept is counted
 * and set aside; an engine that is away stops it. Any number of processes may run it.
 */
export function startScreenshotRecorder(context: LoopTools & ScreenshotTools): Loop {
  const kept = context.metrics.counter('picket_screenshots_total', 'Screenshots that came from probes', ['outcome'])
  const tools = { ...context, note: createNoteForeign(context) }
  let consumer: Awaited<ReturnType<typeof durableConsumer>> | null = null
  return startLoop('screenshots', 0, context, async signal => {
    try {
      consumer ??= await durableConsumer(context.nats, SHOTS_STREAM, 'screenshots')
      while (!signal.aborted) {
        const messages = await awaitMessages(consumer, MESSAGES_AT_ONCE, FETCH_WAIT_MS)
        await keepInHand(
          messages,
          keepAll(tools, messages, outcome => kept.inc({ outcome })),
        )
      }
    } catch (error) {
      // the stream may have been made anew meanwhile
      consumer = null
      throw error
    }
  })
}

type Outcome = Kept | 'refused'
type RecorderContext = LoopTools & ScreenshotTools & { note: NoteForeign }

async function keepAll(context: RecorderContext, messages: JsMsg[], count: (outcome: Outcome) => void): Promise<void> {
  for (const [i, message] of messages.entries()) {
    try {
      count(await keep(context, message))
    } catch (error) {
      // those after it would wait longer than this one
      for (const one of messages.slice(i)) one.nak(RETRY_AFTER_MS)
      throw error
    }
  }
}

async function keep(context: RecorderContext, message: JsMsg): Promise<Outcome> {
  const screenshot = readScreenshot(message)
  const fault = screenshot && faultOf(screenshot)
  if (screenshot === null || fault) {
    context.log.warn({ subject: message.subject, fault }, 'a screenshot was refused')
    message.ack()
    return 'refused'
  }
  try {
    const takenIn = message.subject.slice(SHOTS_STREAM.length + 1)
    const arrival = { takenIn, arrivedAtMs: message.info.timestampNanos / 1_000_000 }
    const outcome = await keepScreenshot(context, arrival, screenshot as Arrived)
    message.ack()
    if (outcome === 'foreign') await noteForeign(context, takenIn, screenshot as Arrived)
    return outcome
  } catch (error) {
    if (isRefusedRow(error) || error instanceof PictureError) {
      context.log.warn({ err: error, subject: message.subject }, 'a screenshot cannot be kept')
      message.ack()
      return 'refused'
    }
    throw error
  }
}

function noteForeign({ note }: RecorderContext, region: string, { order, probeId }: Arrived): Promise<void> {
  const what = order.kind === ScreenshotKind.COMPARISON ? 'comparison' : 'screenshot'
  return note({ region, what, amount: 1, probeId, monitorId: order.monitorId })
}

function readScreenshot(message: JsMsg): Screenshot | null {
  try {
    return Screenshot.decode(message.data)
  } catch {
    return null
  }
}
