import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { getCheckPace } from '../../../monitoring/monitors/settings/guarantee.ts'
import { type CanaryOutage, listSettledOutages } from '../schedule.ts'
import { type Canary, insertOutage, loadCanaryFacts, type MeasuredOutage } from '../store.ts'
import { compareWithLimits, computeCanaryLimits } from './guarantee.ts'
import { type CanaryFacts, measureOutage } from './measure.ts'

/** Older failures are not measured, because no scrape would have seen their metrics. */
const MAX_LOOK_BACK_MS = 24 * 3_600_000

/**
 * Measures planned failures that have ended and are not measured yet (docs/design/history.md#measurement). It reads
 * only the database, so failures during an outage of all processes are included. Each failure is returned to one caller
 * only.
 */
export async function measureOutages(db: Db, canaries: Canary[], now: Date): Promise<MeasuredOutage[]> {
  const measured: MeasuredOutage[] = []
  for (const canary of canaries) {
    for (const outage of listSettledOutages(canary, computeMeasuredUntil(canary, now), now)) {
      const row = evaluateOutage(canary, outage, await loadCanaryFacts(db, canary, outage))
      if (await insertOutage(db, { ...row, now })) measured.push(row)
    }
  }
  return measured
}

function evaluateOutage(canary: Canary, outage: CanaryOutage, facts: CanaryFacts): MeasuredOutage {
  const measurement = measureOutage(outage, facts)
  const limits = computeCanaryLimits(outage.kind, canary, getCheckPace(canary))
  return {
    ...outage,
    ...measurement,
    ...compareWithLimits(outage, measurement, limits, facts.wasUp),
    limits,
    region: canary.region,
  }
}

function computeMeasuredUntil({ measuredSince, lastStartedAt }: Canary, now: Date): Date {
  return new Date(Math.max(measuredSince.getTime(), lastStartedAt?.getTime() ?? 0, now.getTime() - MAX_LOOK_BACK_MS))
}
