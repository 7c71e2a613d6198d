import type { TakeScreenshot } from '../../proto/gen/probe/v1/fleet.ts'
import { ScreenshotKind, type ScreenshotOrder } from '../../proto/gen/probe/v1/screenshot.ts'
import { machine } from '../clock.ts'
import type { Watch } from '../watches.ts'
import type { Studio } from './studio.ts'
import { type ChainEnd, wantedAt } from './wanted.ts'

export type Sittings = {
  /** Takes the screenshot that a chain's end asks for, or has another probe take it. */
  chainEnded: (watch: Watch, end: ChainEnd) => void
  /** Takes one for a probe without a browser. */
  takeFor: (request: TakeScreenshot) => void
}

export type SittingsParts = {
  region: string
  /** null: this probe has no browser */
  studio: Studio | null
  /** asks the fleet for a probe that has one */
  askFleet: (order: ScreenshotOrder) => void
  compareEveryMs: number
}

/** Which pages sit for a screenshot, and who takes it. */
export function createSittings({ region, studio, askFleet, compareEveryMs }: SittingsParts): Sittings {
  return {
    chainEnded(watch, end) {
      const { spec, monitorId } = watch.assignment
      if (!spec) return
      const now = machine.monotonicMs()
      const sinceMs = watch.comparedMs === null ? Number.POSITIVE_INFINITY : now - watch.comparedMs
      const kind = wantedAt(end, spec, sinceMs, compareEveryMs)
      if (kind === null) return
      const { scheduledAtMs, attempt, statusCode } = end.result
      const order = { monitorId, region, scheduledAtMs, attempt, kind, statusCode, permit: new Uint8Array() }
      // what was dropped is asked for again after the next check
      let isUnderWay = true
      if (studio) isUnderWay = studio.take(order, spec)
      else askFleet(order)
      if (isUnderWay && kind === ScreenshotKind.COMPARISON) watch.comparedMs = now
    },
    takeFor({ order, spec }) {
      if (order && spec) studio?.take(order, spec)
    },
  }
}
