import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { getCheckPace } from '../../../monitoring/monitors/settings/guarantee.ts'
import { type CanaryOutage, listSettledOutages } from '../schedule.ts'
import { type Canary, insertOutage, loadCanaryFacts, type MeasuredOutage } from '../store.ts'
import { compareWithLimits, computeCanaryLimits } from './guarantee.ts'
import { type CanaryFacts, measureOutage } from './measure.ts'

/** Failures that are older than this when somebody looks again are history that nobody would have scraped. */
const MAX_LOOK_BACK_MS = 24 * 3_600_000

/**
 * What came of the planned failures that are settled and that nobody has measured yet. It needs nothing but the
 * database, so it tells of those too that passed while every process was dead; each is answered to one caller only.
 */
export async function measureOutages(db: Db, canaries: Canary[], now: Date): Promise<MeasuredOutage[]> {
  const judged: MeasuredOutage[] = []
  for (const canary of canaries) {
    for (const outage of listSettledOutages(canary, computeMeasuredUntil(canary, now), now)) {
      const row = evaluateOutage(canary, outage, await loadCanaryFacts(db, canary, outage))
      if (await insertOutage(db, { ...row, now })) judged.push(row)
    }
  }
  return judged
}

function evaluateOutage(canary: Canary, outage: CanaryOutage, facts: CanaryFacts): MeasuredOutage {
  const measured = measureOutage(outage, facts)
  const limits = computeCanaryLimits(outage.kind, canary, getCheckPace(canary))
  return {
    ...outage,
    ...measured,
    ...compareWithLimits(outage, measured, limits, facts.wasUp),
    limits,
    region: canary.region,
  }
}

function computeMeasuredUntil({ measuredSince, lastStartedAt }: Canary, now: Date): Date {
  return new Date(Math.max(measuredSince.getTime(), lastStartedAt?.getTime() ?? 0, now.getTime() - MAX_LOOK_BACK_MS))
}
