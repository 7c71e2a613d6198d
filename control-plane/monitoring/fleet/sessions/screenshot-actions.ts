import { ScreenshotKind, ScreenshotOrder } from '../../../../proto/gen/probe/v1/screenshot.ts'
import { screenshotHintSubject } from '../../../../shared/nats/subjects.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { type CountingDifference, listDifferences } from '../../screenshots/baseline-store.ts'
import { createPermit } from '../../screenshots/intake/permit.ts'
import { getRegionPlan } from '../assignments/assignment-table.ts'
import { pickProbe } from '../assignments/region-plan.ts'
import type { FleetContext } from '../context.ts'

/** The capability of a probe with a browser. */
const CAPABILITY = 'screenshot'
/** The capability of a probe with a browser that returns the permit of an order. */
const PERMIT_CAPABILITY = 'screenshot_permit'

/**
 * Handles the request of a probe without a browser for a screenshot (docs/design/screenshots.md#capture): asks a live probe
 * that has one, of the same region if possible. Without such a probe no screenshot is taken. A page is compared in its own
 * region only.
 */
export function requestScreenshot(context: FleetContext, region: string, wanted: ScreenshotOrder): void {
  const { monitorId } = wanted
  if (!isId(monitorId) || !context.assignments.monitors.entries.get(monitorId)?.regions.includes(region)) return
  const isComparison = wanted.kind === ScreenshotKind.COMPARISON
  const others = isComparison ? [] : [...context.assignments.plans.keys()].filter(other => other !== region).sort()
  for (const candidate of [region, ...others]) {
    const probeId = pickProbe(
      getRegionPlan(context.assignments, candidate),
      monitorId,
      candidate === region ? CAPABILITY : PERMIT_CAPABILITY,
    )
    if (probeId === null) continue
    const order = { ...wanted, region }
    const permit = candidate === region ? Buffer.alloc(0) : createPermit({ probeId, order }, context.secrets)
    context.nats.connection.publish(
      screenshotHintSubject(probeId),
      ScreenshotOrder.encode({ ...order, permit }).finish(),
    )
    return
  }
}

/** Loads how much pages differ from their baselines, for monitors with `screenshot_compare`. */
export async function loadDifferences(
  context: FleetContext,
  region: string,
  ids: string[],
): Promise<Map<string, CountingDifference>> {
  const compared = ids.filter(id => context.assignments.monitors.entries.get(id)?.spec?.screenshotCompare)
  if (compared.length === 0) return new Map()
  return listDifferences(context.db, region, compared, now()).catch(error => {
    context.log.warn({ err: error, region }, 'assignments are sent without differences of screenshots')
    return new Map()
  })
}
