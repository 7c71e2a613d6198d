import { Screenshot, ScreenshotKind } from '../../../../proto/gen/probe/v1/screenshot.ts'
import { SCREENSHOTS_STREAM } from '../../../../shared/nats/subjects.ts'
import {
  type JsMsg,
  keepInProgress,
  openDurableConsumer,
  waitForMessages,
} from '../../../foundation/platform/nats/durable-consumer.ts'
import { StoreLimitError } from '../../../foundation/platform/object-storage/nats-bucket.ts'
import { isInvalidRowError } from '../../../foundation/platform/postgres/client.ts'
import { type Loop, type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'
import {
  createForeignReportRecorder,
  type ForeignReportRecorder,
} from '../../monitors/report-regions/foreign-report-actions.ts'
import { type IntakeOutcome, type ScreenshotTools, storeScreenshot } from '../actions.ts'
import { ImageError } from '../difference/page-difference.ts'
import { findScreenshotProblem, type ReceivedScreenshot } from './received-screenshot.ts'

const MESSAGES_AT_ONCE = 10
const FETCH_WAIT_MS = 1_000
/** When the object store or the database is unreachable, the message is delivered again after this time. */
const RETRY_AFTER_MS = 2_000

/**
 * Moves screenshots from the stream into the object store, one after another, and acknowledges them. A screenshot that
 * cannot be stored, or for which there is no room, is counted and skipped. It stops while NATS, PostgreSQL or the object store is unreachable. Any number
 * of processes may run it.
 */
export function startScreenshotRecorder(context: LoopTools & ScreenshotTools): Loop {
  const received = context.metrics.counter('picket_screenshots_total', 'Screenshots received from probes', ['outcome'])
  const tools = { ...context, recordForeign: createForeignReportRecorder(context) }
  let consumer: Awaited<ReturnType<typeof openDurableConsumer>> | null = null
  return startLoop('screenshots', 0, context, async signal => {
    try {
      consumer ??= await openDurableConsumer(context.nats, SCREENSHOTS_STREAM, 'screenshots')
      while (!signal.aborted) {
        const messages = await waitForMessages(consumer, MESSAGES_AT_ONCE, FETCH_WAIT_MS, signal)
        await keepInProgress(
          messages,
          storeAll(tools, messages, outcome => received.inc({ outcome })),
        )
      }
    } catch (error) {
      // the stream may have been deleted and created again
      consumer = null
      throw error
    }
  })
}

type RecorderOutcome = IntakeOutcome | 'refused' | 'full'
type RecorderContext = LoopTools & ScreenshotTools & { recordForeign: ForeignReportRecorder }

async function storeAll(
  context: RecorderContext,
  messages: JsMsg[],
  count: (outcome: RecorderOutcome) => void,
): Promise<void> {
  for (const [i, message] of messages.entries()) {
    try {
      count(await storeMessage(context, message))
    } catch (error) {
      // otherwise the messages after it would wait longer than this one
      for (const one of messages.slice(i)) one.nak(RETRY_AFTER_MS)
      throw error
    }
  }
}

async function storeMessage(context: RecorderContext, message: JsMsg): Promise<RecorderOutcome> {
  const screenshot = decodeScreenshot(message)
  const fault = screenshot && findScreenshotProblem(screenshot)
  if (screenshot === null || fault) {
    context.log.warn({ subject: message.subject, fault }, 'a screenshot of a probe was refused')
    message.ack()
    return 'refused'
  }
  try {
    const takenIn = message.subject.slice(SCREENSHOTS_STREAM.length + 1)
    const receipt = { takenIn, arrivedAtMs: message.info.timestampNanos / 1_000_000 }
    const outcome = await storeScreenshot(context, receipt, screenshot as ReceivedScreenshot)
    message.ack()
    if (outcome === 'foreign') await reportForeign(context, takenIn, screenshot as ReceivedScreenshot)
    return outcome
  } catch (error) {
    if (isInvalidRowError(error) || error instanceof ImageError) {
      context.log.warn({ err: error, subject: message.subject }, 'a screenshot cannot be stored')
      message.ack()
      return 'refused'
    }
    if (error instanceof StoreLimitError) {
      context.log.warn(
        { event: 'screenshots_full', subject: message.subject },
        `a screenshot is dropped: ${error.message}`,
      )
      message.ack()
      return 'full'
    }
    throw error
  }
}

function reportForeign(
  { recordForeign }: RecorderContext,
  region: string,
  { order, probeId }: ReceivedScreenshot,
): Promise<void> {
  const what = order.kind === ScreenshotKind.COMPARISON ? 'comparison' : 'screenshot'
  return recordForeign({ region, what, amount: 1, probeId, monitorId: order.monitorId })
}

function decodeScreenshot(message: JsMsg): Screenshot | null {
  try {
    return Screenshot.decode(message.data)
  } catch {
    return null
  }
}
