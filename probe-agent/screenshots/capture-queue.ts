import { type Screenshot, ScreenshotKind, type ScreenshotOrder } from '../../proto/gen/probe/v1/screenshot.ts'
import type { CheckSpec } from '../../shared/checks/check.ts'
import type { Log } from '../../shared/process/log.ts'
import { buildAuthHeader } from '../checks/auth.ts'
import { machine } from '../clock.ts'
import type { ScreenshotCapture } from './capture.ts'

export type CaptureQueueOptions = {
  shutter: ScreenshotCapture
  probeId: string
  /** the control plane's clock, ms since 1970 */
  nowMs: () => number
  /** Rejects when the screenshot did not arrive; it is then lost. */
  send: (screenshot: Screenshot) => Promise<void>
  log: Log
}

export type CaptureQueue = {
  /** Has a screenshot taken when its turn comes; false: too many wait, this one is dropped. */
  enqueue: (order: ScreenshotOrder, spec: CheckSpec) => boolean
  /** Drops what waits and ends what is under way. */
  close: () => void
}

type QueuedCapture = { order: ScreenshotOrder; spec: CheckSpec; sinceMs: number }

const MAX_QUEUED = 20
/** What is seen later than this is not what failed. */
const MAX_QUEUE_WAIT_MS = 60_000

/**
 * One screenshot at a time, in a short queue, apart from all checks: what does not fit in is dropped and counted. A
 * screenshot that fails is a line in the log and nothing more, because the check's result has long gone out.
 */
export function createCaptureQueue({ shutter, probeId, nowMs, send, log }: CaptureQueueOptions): CaptureQueue {
  const queue: QueuedCapture[] = []
  let isBusy = false
  let dropped = 0

  function drop(why: string, { monitorId }: ScreenshotOrder): void {
    dropped++
    log.warn({ event: 'screenshot_dropped', monitor_id: monitorId, dropped, why }, 'a screenshot was dropped')
  }

  async function work(): Promise<void> {
    if (isBusy) return
    isBusy = true
    for (let next = queue.shift(); next; next = queue.shift()) {
      if (machine.monotonicMs() - next.sinceMs > MAX_QUEUE_WAIT_MS) drop('it waited too long', next.order)
      else await shoot(next).catch(error => drop((error as Error).message, next.order))
    }
    isBusy = false
  }

  async function shoot({ order, spec }: QueuedCapture): Promise<void> {
    const auth = buildAuthHeader(spec.auth)
    const headers = auth ? { ...spec.headers, [auth[0]]: auth[1] } : spec.headers
    const isComparison = order.kind === ScreenshotKind.COMPARISON
    const { statusCode, contentType, bytes } = await shutter.take({
      url: spec.url,
      headers,
      format: isComparison ? 'png' : 'jpeg',
    })
    if (isComparison && statusCode !== order.statusCode) throw new Error(`the page answered ${statusCode} this time`)
    const id = machine.uuid()
    await send({ id, probeId, order, contentType, image: bytes, takenAtMs: Math.floor(nowMs()) })
    log.debug({ event: 'screenshot', monitor_id: order.monitorId, id, bytes: bytes.length }, 'a screenshot was sent')
  }

  return {
    enqueue(order, spec) {
      if (queue.length >= MAX_QUEUED) {
        drop('too many wait', order)
        return false
      }
      queue.push({ order, spec, sinceMs: machine.monotonicMs() })
      void work()
      return true
    },
    close() {
      queue.length = 0
      shutter.stop()
    },
  }
}
