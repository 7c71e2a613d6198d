import { type Screenshot, ScreenshotKind, type ScreenshotOrder } from '../../proto/gen/probe/v1/screenshot.ts'
import type { CheckSpec } from '../../shared/checks/check.ts'
import type { Log } from '../../shared/process/log.ts'
import { buildAuthHeader } from '../checks/auth.ts'
import { machine } from '../clock.ts'
import type { ScreenshotCapture } from './capture.ts'
import { createCaptureTurns } from './capture-turns.ts'

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
  /** Queues a screenshot, or drops it when there is no room for it. */
  enqueue: (wanted: WantedCapture) => void
  /** Drops queued screenshots and stops the current one. */
  close: () => void
}

type WantedCapture = {
  order: ScreenshotOrder
  spec: CheckSpec
  /** number of the monitor's project; 0: unknown */
  tenant: number
  /** called when the screenshot is dropped before it is taken */
  onDrop?: () => void
}
type QueuedCapture = WantedCapture & { sinceMs: number }

const MAX_QUEUED = 20
/** How many times the limit of one capture a screenshot may wait. A later one would not show the failure. */
const MAX_WAIT_CAPTURES = 4

/**
 * Takes one screenshot at a time from a short queue (capture-turns.ts), independently of checks. What does not fit is dropped
 * and counted. A failed screenshot is only logged, because the check's result is already published.
 */
export function createCaptureQueue(options: CaptureQueueOptions): CaptureQueue {
  const { capture, probeId, nowMs, send, log } = options
  const maxWaitMs = MAX_WAIT_CAPTURES * capture.withinMs
  const turns = createCaptureTurns<QueuedCapture>(MAX_QUEUED)
  let isBusy = false
  let dropped = 0

  function drop(why: string, { monitorId }: ScreenshotOrder): void {
    dropped++
    log.warn({ event: 'screenshot_dropped', monitor_id: monitorId, dropped, why }, 'screenshot dropped')
  }

  function dropQueued(why: string, { order, onDrop }: WantedCapture): void {
    drop(why, order)
    onDrop?.()
  }

  async function work(): Promise<void> {
    if (isBusy) return
    isBusy = true
    for (let next = turns.take(); next; next = turns.take()) {
      if (machine.monotonicMs() - next.sinceMs > maxWaitMs) dropQueued(`it waited longer than ${maxWaitMs} ms`, next)
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
    enqueue(wanted) {
      const surplus = turns.put({ ...wanted, sinceMs: machine.monotonicMs() })
      if (surplus) dropQueued('the queue is full', surplus)
      void work()
    },
    close() {
      turns.clear()
      capture.stop()
    },
  }
}
