import { ScreenshotKind, ScreenshotOrder } from '../../../../proto/gen/probe/v1/screenshot.ts'
import { screenshotHintSubject } from '../../../../shared/nats/subjects.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import { listDifferences } from '../../screenshots/baseline-store.ts'
import { createPermit } from '../../screenshots/intake/permit.ts'
import { getRegionPlan } from '../assignments/assignment-table.ts'
import { pickProbe } from '../assignments/region-plan.ts'
import type { FleetContext } from '../context.ts'

/** What a probe announces that has a browser. */
const CAPABILITY = 'screenshot'
/** What a probe with a browser announces that sends the permit of an order back. */
const PERMIT_CAPABILITY = 'screenshot_permit'

/**
 * A probe without a browser wants a screenshot of what its region checks: a live probe that has one is asked, of the same region
 * if there is one there. Without one anywhere, no screenshot is taken. A page is compared in its own region only.
 */
export function requestScreenshot(context: FleetContext, region: string, wanted: ScreenshotOrder): void {
  const { monitorId } = wanted
  if (!isId(monitorId) || !context.assignments.monitors.entries.get(monitorId)?.regions.includes(region)) return
  const isComparison = wanted.kind === ScreenshotKind.COMPARISON
  const others = isComparison ? [] : [...context.assignments.plans.keys()].filter(other => other !== region).sort()
  for (const place of [region, ...others]) {
    const probeId = pickProbe(
      getRegionPlan(context.assignments, place),
      monitorId,
      place === region ? CAPABILITY : PERMIT_CAPABILITY,
    )
    if (probeId === null) continue
    const order = { ...wanted, region }
    const permit = place === region ? Buffer.alloc(0) : createPermit({ probeId, order }, context.secrets)
    context.nats.connection.publish(
      screenshotHintSubject(probeId),
      ScreenshotOrder.encode({ ...order, permit }).finish(),
    )
    return
  }
}

/** How much pages differ from their baselines, for those of the monitors that are compared. */
export async function loadDifferences(
  context: FleetContext,
  region: string,
  ids: string[],
): Promise<Map<string, number>> {
  const compared = ids.filter(id => context.assignments.monitors.entries.get(id)?.spec?.screenshotCompare)
  if (compared.length === 0) return new Map()
  return listDifferences(context.db, region, compared).catch(error => {
    context.log.warn({ err: error, region }, 'assignments go out without comparisons')
    return new Map()
  })
}
