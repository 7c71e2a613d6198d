import { type Screenshot, ScreenshotKind, type ScreenshotOrder } from '../../proto/gen/probe/v1/screenshot.ts'
import type { CheckSpec } from '../../shared/checks/check.ts'
import type { Log } from '../../shared/process/log.ts'
import { buildAuthHeader } from '../checks/auth.ts'
import { machine } from '../clock.ts'
import type { ScreenshotCapture } from './capture.ts'

type CaptureQueueOptions = {
  capture: ScreenshotCapture
  probeId: string
  /** the control plane's clock, ms since 1970 */
  nowMs: () => number
  /** Rejects when the screenshot did not arrive; it is then lost. */
  send: (screenshot: Screenshot) => Promise<void>
  log: Log
}

export type CaptureQueue = {
  /** Queues a screenshot; false: the queue is full and it is dropped. */
  enqueue: (order: ScreenshotOrder, spec: CheckSpec) => boolean
  /** Drops queued screenshots and stops the current one. */
  close: () => void
}

type QueuedCapture = { order: ScreenshotOrder; spec: CheckSpec; sinceMs: number }

const MAX_QUEUED = 20
/** A later screenshot would not show the failure. */
const MAX_QUEUE_WAIT_MS = 60_000

/**
 * Takes one screenshot at a time from a short queue, independently of checks. Screenshots that do not fit are dropped and
 * counted. A failed screenshot is only logged, because the check's result is already published.
 */
export function createCaptureQueue({ capture, probeId, nowMs, send, log }: CaptureQueueOptions): CaptureQueue {
  const queue: QueuedCapture[] = []
  let isBusy = false
  let dropped = 0

  function drop(why: string, { monitorId }: ScreenshotOrder): void {
    dropped++
    log.warn({ event: 'screenshot_dropped', monitor_id: monitorId, dropped, why }, 'screenshot dropped')
  }

  async function work(): Promise<void> {
    if (isBusy) return
    isBusy = true
    for (let next = queue.shift(); next; next = queue.shift()) {
      if (machine.monotonicMs() - next.sinceMs > MAX_QUEUE_WAIT_MS) drop('it waited longer than 60 s', next.order)
      else await takeScreenshot(next).catch(error => drop((error as Error).message, next.order))
    }
    isBusy = false
  }

  async function takeScreenshot({ order, spec }: QueuedCapture): Promise<void> {
    const auth = buildAuthHeader(spec.auth)
    const headers = auth ? { ...spec.headers, [auth[0]]: auth[1] } : spec.headers
    const isComparison = order.kind === ScreenshotKind.COMPARISON
    const { statusCode, contentType, bytes } = await capture.take({
      url: spec.url,
      headers,
      format: isComparison ? 'png' : 'jpeg',
    })
    if (isComparison && statusCode !== order.statusCode)
      throw new Error(`the page answered ${statusCode}, the check got ${order.statusCode}`)
    const id = machine.uuid()
    await send({ id, probeId, order, contentType, image: bytes, takenAtMs: Math.floor(nowMs()) })
    log.debug({ event: 'screenshot', monitor_id: order.monitorId, id, bytes: bytes.length }, 'screenshot sent')
  }

  return {
    enqueue(order, spec) {
      if (queue.length >= MAX_QUEUED) {
        drop('the queue is full', order)
        return false
      }
      queue.push({ order, spec, sinceMs: machine.monotonicMs() })
      void work()
      return true
    },
    close() {
      queue.length = 0
      capture.stop()
    },
  }
}
