import { ScreenshotKind, ScreenshotOrder } from '../../proto/gen/probe/v1/screenshot.ts'
import { shotHintSubject } from '../../shared/subjects.ts'
import { isId } from '../platform/ids.ts'
import { differencesOf } from '../screenshots/baseline-store.ts'
import { permitFor } from '../screenshots/permit.ts'
import { planOf } from './book.ts'
import type { Desk } from './desk.ts'
import { probeFor } from './plan.ts'

/** What a probe announces that has a browser. */
const CAPABILITY = 'screenshot'
/** What a probe with a browser announces that sends the permit of an order back. */
const FOR_OTHERS = 'screenshot_permit'

/**
 * A probe without a browser wants a screenshot of what its region checks: a live probe that has one is asked, of the same region
 * if there is one there. Without one anywhere, no screenshot is taken. A page is compared in its own region only.
 */
export function askForScreenshot(desk: Desk, region: string, wanted: ScreenshotOrder): void {
  const { monitorId } = wanted
  if (!isId(monitorId) || !desk.book.roster.entries.get(monitorId)?.regions.includes(region)) return
  const isComparison = wanted.kind === ScreenshotKind.COMPARISON
  const others = isComparison ? [] : [...desk.book.plans.keys()].filter(other => other !== region).sort()
  for (const place of [region, ...others]) {
    const probeId = probeFor(planOf(desk.book, place), monitorId, place === region ? CAPABILITY : FOR_OTHERS)
    if (probeId === null) continue
    const order = { ...wanted, region }
    const permit = place === region ? Buffer.alloc(0) : permitFor({ probeId, order }, desk.secrets)
    desk.nats.connection.publish(shotHintSubject(probeId), ScreenshotOrder.encode({ ...order, permit }).finish())
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
