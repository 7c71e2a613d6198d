import { ScreenshotOrder } from '../../proto/gen/probe/v1/screenshot.ts'
import { shotHintSubject } from '../../shared/subjects.ts'
import { isId } from '../platform/ids.ts'
import { differencesOf } from '../screenshots/baseline-store.ts'
import { planOf } from './book.ts'
import type { Desk } from './desk.ts'
import { probeFor } from './plan.ts'

/** What a probe announces that has a browser. */
const CAPABILITY = 'screenshot'

/**
 * A probe without a browser wants a screenshot of what it checks: a live probe that has one is asked, of the same region
 * if there is one there. When there is none anywhere, there is no screenshot.
 */
export function askForScreenshot(desk: Desk, region: string, wanted: ScreenshotOrder): void {
  const { monitorId } = wanted
  if (!isId(monitorId) || !desk.book.roster.entries.has(monitorId)) return
  const others = [...desk.book.plans.keys()].filter(other => other !== region).sort()
  for (const place of [region, ...others]) {
    const probeId = probeFor(planOf(desk.book, place), monitorId, CAPABILITY)
    if (probeId === null) continue
    const order = ScreenshotOrder.encode({ ...wanted, region }).finish()
    desk.nats.connection.publish(shotHintSubject(probeId), order)
    return
  }
}

/** How much pages differ from their baselines, for those of the monitors that are compared. */
export async function differencesFor(desk: Desk, region: string, ids: string[]): Promise<Map<string, number>> {
  const compared = ids.filter(id => desk.book.roster.entries.get(id)?.spec?.screenshotCompare)
  if (compared.length === 0) return new Map()
  return differencesOf(desk.db, region, compared).catch(error => {
    desk.log.warn({ err: error, region }, 'assignments go out without comparisons')
    return new Map()
  })
}
