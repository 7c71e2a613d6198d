import { paceOf } from '../monitors/guarantee.ts'
import type { Db } from '../platform/postgres.ts'
import { compare, limitsOf } from './guarantee.ts'
import { type Facts, measure } from './measure.ts'
import { type Outage, settledOutages } from './schedule.ts'
import { type Canary, factsOf, insertOutage, type Judged } from './store.ts'

/** Failures that are older than this when somebody looks again are history that nobody would have scraped. */
const LOOK_BACK_MS = 24 * 3_600_000

/**
 * What came of the planned failures that are settled and that nobody has measured yet. It needs nothing but the
 * database, so it tells of those too that passed while every process was dead; each is answered to one caller only.
 */
export async function measureOutages(db: Db, canaries: Canary[], now: Date): Promise<Judged[]> {
  const judged: Judged[] = []
  for (const canary of canaries) {
    for (const outage of settledOutages(canary, measuredUntil(canary, now), now)) {
      const row = judge(canary, outage, await factsOf(db, canary, outage))
      if (await insertOutage(db, { ...row, now })) judged.push(row)
    }
  }
  return judged
}

function judge(canary: Canary, outage: Outage, facts: Facts): Judged {
  const measured = measure(outage, facts)
  const limits = limitsOf(outage.kind, canary, paceOf(canary))
  return { ...outage, ...measured, ...compare(outage, measured, limits, facts.wasUp), limits, region: canary.region }
}

function measuredUntil({ measuredSince, lastStartedAt }: Canary, now: Date): Date {
  return new Date(Math.max(measuredSince.getTime(), lastStartedAt?.getTime() ?? 0, now.getTime() - LOOK_BACK_MS))
}
