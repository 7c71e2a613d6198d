import { planPeriodsFrom } from '../../control-plane/verdict/maintenance/period-plan.ts'
import { seededRandom } from '../chaos/random.ts'
import type { Database } from './database.ts'
import { BEGIN_MS, type SimulatedInstallation } from './installation.ts'
import {
  isNear,
  OUTAGE_KINDS,
  QUIET_MS,
  type SimulatedOutage,
  type SimulationPlan,
  type SimulationPlanOptions,
  spread,
} from './plan.ts'
import type { Time } from './time.ts'

/** A maintenance window of one monitor, as a customer plans it. Times in ms since the beginning. */
type PlannedWindow = { index: number; createdMs: number; fromMs: number; toMs: number }

/** A plan with maintenance, and with the outages that it causes. */
type MaintainedPlan = SimulationPlan & { windows: PlannedWindow[] }

const [S, MIN, HOUR, DAY_MS] = [1_000, 60_000, 3_600_000, 86_400_000]
const YEAR_DAYS = 365
const WINDOWS_A_YEAR = 24
const RETRY_MS = 5_000

/**
 * Adds maintenance windows to a plan. The target breaks in half of them: during the window, beyond its end, or from before
 * its beginning. Another random generator leaves the rest of the plan as it is.
 */
export function addMaintenance(
  plan: SimulationPlan,
  installation: SimulatedInstallation,
  { seed, days, factor }: Pick<SimulationPlanOptions, 'seed' | 'days' | 'factor'>,
): MaintainedPlan {
  const random = seededRandom(seed ^ 0xca1e)
  const endMs = days * DAY_MS
  const expected = WINDOWS_A_YEAR * (days / YEAR_DAYS) * factor
  const windows: PlannedWindow[] = []
  const outages: SimulatedOutage[] = [...plan.outages]
  for (const { index } of installation.monitors) {
    const amount = Math.floor(expected) + (random.chance(expected % 1) ? 1 : 0)
    for (let i = 0; i < amount; i++) {
      const fromMs = random.between(QUIET_MS, Math.max(QUIET_MS, endMs - HOUR))
      const toMs = fromMs + spread(random, 5 * MIN, 2 * HOUR)
      const aheadMs = random.chance(0.5) ? 0 : spread(random, MIN, 12 * HOUR)
      windows.push({ index, createdMs: Math.max(0, fromMs - aheadMs), fromMs, toMs })
      if (random.chance(0.5)) continue
      const kind = random.chance(0.1) ? 'degraded' : random.pick(OUTAGE_KINDS)
      const lastMs = toMs - 5 * S
      const begunMs = random.between(fromMs + 5 * S, lastMs - MIN)
      const [outageFromMs, outageToMs] = random.pick([
        [begunMs, random.between(begunMs + MIN, lastMs)],
        [begunMs, toMs + spread(random, 5 * S, HOUR)],
        [fromMs - spread(random, 5 * S, HOUR), begunMs],
      ])
      const outage = { index, kind, fromMs: Math.max(QUIET_MS, outageFromMs!), toMs: outageToMs!, isShared: false }
      if (!outages.some(other => isNear(outage, other))) outages.push(outage)
    }
  }
  return { ...plan, outages, windows }
}

type Parts = { time: Time; database: Database; plan: MaintainedPlan; installation: SimulatedInstallation }

/** Simulated users who create the windows, some of them for immediately. Retries while the database is unavailable. */
export function startMaintenance({ time, database, plan, installation }: Parts): void {
  function create(window: PlannedWindow): void {
    if (database.isUnavailable()) return void time.after(RETRY_MS, () => create(window))
    const monitorId = installation.monitors[window.index]!.id
    const [startsAt, endsAt] = [window.fromMs, window.toMs].map(ms => new Date(BEGIN_MS + ms))
    const schedule = { cron: null, durationMinutes: null, timeZone: null, startsAt: startsAt!, endsAt: endsAt! }
    const { periods } = planPeriodsFrom(schedule, new Date(database.clockMs()))
    for (const period of periods) database.alerts().periods.push({ ...period, monitorId, storedMs: time.nowMs() })
  }
  for (const window of plan.windows) time.after(window.createdMs, () => create(window))
}
