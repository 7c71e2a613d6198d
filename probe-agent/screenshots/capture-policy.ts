import type { TakeScreenshot } from '../../proto/gen/probe/v1/fleet.ts'
import { ScreenshotKind, type ScreenshotOrder } from '../../proto/gen/probe/v1/screenshot.ts'
import { machine } from '../clock.ts'
import type { AssignedMonitor } from '../schedule/assigned-monitors.ts'
import type { CaptureQueue } from './capture-queue.ts'
import { decideCapture, type RecheckChainEnd } from './should-capture.ts'

export type CapturePolicy = {
  /** Takes the screenshot that the end of a chain requires, or requests it from another probe. */
  chainEnded: (monitor: AssignedMonitor, end: RecheckChainEnd) => void
  /** Takes a screenshot for a probe without a browser. */
  takeFor: (request: TakeScreenshot) => void
}

type CapturePolicyOptions = {
  region: string
  /** null: this probe has no browser */
  captureQueue: CaptureQueue | null
  /** requests a screenshot from a probe with a browser */
  requestFromFleet: (order: ScreenshotOrder) => void
  compareEveryMs: number
}

/** Decides which pages are captured, and by which probe. */
export function createCapturePolicy({
  region,
  captureQueue,
  requestFromFleet,
  compareEveryMs,
}: CapturePolicyOptions): CapturePolicy {
  return {
    chainEnded(monitor, end) {
      const { spec, monitorId } = monitor.assignment
      if (!spec) return
      const now = machine.monotonicMs()
      const sinceMs = monitor.comparedMs === null ? Number.POSITIVE_INFINITY : now - monitor.comparedMs
      const kind = decideCapture(end, spec, sinceMs, compareEveryMs)
      if (kind === null) return
      const { scheduledAtMs, attempt, statusCode } = end.result
      const order = { monitorId, region, scheduledAtMs, attempt, kind, statusCode, permit: new Uint8Array() }
      // a dropped comparison is requested again after the next check
      let isAccepted = true
      if (captureQueue) isAccepted = captureQueue.enqueue(order, spec)
      else requestFromFleet(order)
      if (isAccepted && kind === ScreenshotKind.COMPARISON) monitor.comparedMs = now
    },
    takeFor({ order, spec }) {
      if (order && spec) captureQueue?.enqueue(order, spec)
    },
  }
}
