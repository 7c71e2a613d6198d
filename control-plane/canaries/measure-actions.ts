import type { Region } from '../../shared/check.ts'
import type { Db } from '../platform/postgres.ts'
import { type Measured, measure } from './measure.ts'
import { type Outage, settledOutages } from './schedule.ts'
import { type Canary, factsOf, insertOutage } from './store.ts'

/** Failures that are older than this when somebody looks again are history that nobody would have scraped. */
const LOOK_BACK_MS = 24 * 3_600_000

export type Judged = Measured & Outage & { region: Region }

/**
 * What came of the planned failures that are settled and that nobody has measured yet. It needs nothing but the
 * database, so it tells of those too that passed while every process was dead; each is answered to one caller only.
 */
export async function measureOutages(db: Db, canaries: Canary[], now: Date): Promise<Judged[]> {
  const judged: Judged[] = []
  for (const canary of canaries) {
    for (const outage of settledOutages(canary, measuredUntil(canary, now), now)) {
      const row = { ...outage, ...measure(outage, await factsOf(db, canary, outage)), region: canary.region }
      if (await insertOutage(db, { ...row, now })) judged.push(row)
    }
  }
  return judged
}

function measuredUntil({ measuredSince, lastStartedAt }: Canary, now: Date): Date {
  return new Date(Math.max(measuredSince.getTime(), lastStartedAt?.getTime() ?? 0, now.getTime() - LOOK_BACK_MS))
}
