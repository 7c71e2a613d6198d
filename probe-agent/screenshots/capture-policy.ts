import type { TakeScreenshot } from '../../proto/gen/probe/v1/fleet.ts'
import { ScreenshotKind, type ScreenshotOrder } from '../../proto/gen/probe/v1/screenshot.ts'
import { machine } from '../clock.ts'
import type { AssignedMonitor } from '../schedule/assigned-monitors.ts'
import type { CaptureQueue } from './capture-queue.ts'
import { computeValidSeconds, decideCapture, type RecheckChainEnd } from './should-capture.ts'

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
      const { configVersion, intervalS } = monitor.assignment
      const validSeconds = computeValidSeconds(compareEveryMs, intervalS)
      const check = { monitorId, region, scheduledAtMs, attempt, statusCode, configVersion }
      const order = { ...check, kind, validSeconds, permit: new Uint8Array() }
      const before = monitor.comparedMs
      if (kind === ScreenshotKind.COMPARISON) monitor.comparedMs = now
      // a dropped comparison is requested again after the next check
      const onDrop = () => {
        if (kind === ScreenshotKind.COMPARISON) monitor.comparedMs = before
      }
      if (captureQueue) captureQueue.enqueue({ order, spec, tenant: monitor.tenant, onDrop })
      else requestFromFleet(order)
    },
    takeFor({ order, spec, tenant = 0 }) {
      if (order && spec) captureQueue?.enqueue({ order, spec, tenant })
    },
  }
}
