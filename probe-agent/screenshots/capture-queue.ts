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
  /** Queues a screenshot, failures before comparisons; false: there is no room for it, and it is dropped. */
  enqueue: (order: ScreenshotOrder, spec: CheckSpec) => boolean
  /** Drops queued screenshots and stops the current one. */
  close: () => void
}

type QueuedCapture = { order: ScreenshotOrder; spec: CheckSpec; sinceMs: number }

const isComparison = ({ order }: QueuedCapture) => order.kind === ScreenshotKind.COMPARISON

const MAX_QUEUED = 20
/** How many times the limit of one capture a screenshot may wait. A later one would not show the failure. */
const MAX_WAIT_CAPTURES = 4

/**
 * Takes one screenshot at a time from a short queue, independently of checks. A failure is taken before the comparisons
 * that wait, and replaces the last of them when the queue is full: a comparison can be made later. What does not fit is
 * dropped and counted. A failed screenshot is only logged, because the check's result is already published.
 */
export function createCaptureQueue(options: CaptureQueueOptions): CaptureQueue {
  const { capture, probeId, nowMs, send, log } = options
  const maxWaitMs = MAX_WAIT_CAPTURES * capture.withinMs
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
      if (machine.monotonicMs() - next.sinceMs > maxWaitMs) drop(`it waited longer than ${maxWaitMs} ms`, next.order)
      else await takeScreenshot(next).catch(error => drop((error as Error).message, next.order))
    }
    isBusy = false
  }

  async function takeScreenshot({ order, spec }: QueuedCapture): Promise<void> {
    const auth = buildAuthHeader(spec.auth)
    const headers = auth ? { ...spec.headers, [auth[0]]: auth[1] } : spec.headers
    const isCompared = order.kind === ScreenshotKind.COMPARISON
    const { statusCode, contentType, bytes } = await capture.take({
      url: spec.url,
      headers,
      format: isCompared ? 'png' : 'jpeg',
    })
    if (isCompared && statusCode !== order.statusCode)
      throw new Error(`the page answered ${statusCode}, the check got ${order.statusCode}`)
    const id = machine.uuid()
    await send({ id, probeId, order, contentType, image: bytes, takenAtMs: Math.floor(nowMs()) })
    log.debug({ event: 'screenshot', monitor_id: order.monitorId, id, bytes: bytes.length }, 'screenshot sent')
  }

  return {
    enqueue(order, spec) {
      const firstComparison = queue.findIndex(isComparison)
      const place = order.kind === ScreenshotKind.FAILURE && firstComparison >= 0 ? firstComparison : queue.length
      if (queue.length >= MAX_QUEUED) {
        const replaced = place < queue.length ? queue.pop() : undefined
        drop('the queue is full', replaced?.order ?? order)
        if (!replaced) return false
      }
      queue.splice(place, 0, { order, spec, sinceMs: machine.monotonicMs() })
      void work()
      return true
    },
    close() {
      queue.length = 0
      capture.stop()
    },
  }
}
