import type { TakeScreenshot } from '../../proto/gen/probe/v1/fleet.ts'
import { ScreenshotKind, type ScreenshotOrder } from '../../proto/gen/probe/v1/screenshot.ts'
import { machine } from '../clock.ts'
import type { AssignedMonitor } from '../schedule/assigned-monitors.ts'
import type { CaptureQueue } from './capture-queue.ts'
import { decideCapture, type RecheckChainEnd } from './should-capture.ts'

export type CapturePolicy = {
  /** Takes the screenshot that a chain's end asks for, or has another probe take it. */
  chainEnded: (watch: AssignedMonitor, end: RecheckChainEnd) => void
  /** Takes one for a probe without a browser. */
  takeFor: (request: TakeScreenshot) => void
}

export type CapturePolicyOptions = {
  region: string
  /** null: this probe has no browser */
  studio: CaptureQueue | null
  /** asks the fleet for a probe that has one */
  askFleet: (order: ScreenshotOrder) => void
  compareEveryMs: number
}

/** Which pages sit for a screenshot, and who takes it. */
export function createCapturePolicy({ region, studio, askFleet, compareEveryMs }: CapturePolicyOptions): CapturePolicy {
  return {
    chainEnded(watch, end) {
      const { spec, monitorId } = watch.assignment
      if (!spec) return
      const now = machine.monotonicMs()
      const sinceMs = watch.comparedMs === null ? Number.POSITIVE_INFINITY : now - watch.comparedMs
      const kind = decideCapture(end, spec, sinceMs, compareEveryMs)
      if (kind === null) return
      const { scheduledAtMs, attempt, statusCode } = end.result
      const order = { monitorId, region, scheduledAtMs, attempt, kind, statusCode, permit: new Uint8Array() }
      // what was dropped is asked for again after the next check
      let isUnderWay = true
      if (studio) isUnderWay = studio.enqueue(order, spec)
      else askFleet(order)
      if (isUnderWay && kind === ScreenshotKind.COMPARISON) watch.comparedMs = now
    },
    takeFor({ order, spec }) {
      if (order && spec) studio?.enqueue(order, spec)
    },
  }
}
