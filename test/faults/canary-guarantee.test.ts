import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { OPERATOR_ACTOR } from '../../control-plane/foundation/web/auth/audit-actor.ts'
import { createCanaries } from '../../control-plane/insight/canaries/actions.ts'
import { buildTargetUrl } from '../../control-plane/insight/canaries/canary-urls.ts'
import { measureOutages } from '../../control-plane/insight/canaries/measurement/measure-actions.ts'
import {
  CANARY_INTERVAL_SECONDS,
  computeNextStart,
  FAILURE_KINDS,
  type FailureKind,
  getLatestOutage,
  isFailing,
} from '../../control-plane/insight/canaries/schedule.ts'
import { type Canary, findCanaryProject, loadCanaries, saveCanary } from '../../control-plane/insight/canaries/store.ts'
import { changeMonitor } from '../../control-plane/monitoring/monitors/actions.ts'
import { clearVerdict } from '../../control-plane/verdict/core/monitor-lifecycle-actions.ts'
import { REGIONS } from '../../shared/checks/check.ts'
import { computeSlots } from '../../shared/checks/slots.ts'
import { canaryTools, makeOperator } from '../support/canaries.ts'
import { startPicket } from '../support/picket.ts'
import { waitFor } from '../support/wait.ts'

// takes about 130 s

/** Long enough to be detected for every kind. */
const FOR_SECONDS = 120

/** A schedule whose first failure is soon, and begins long enough before a check for a slow machine. */
function findSchedule(canary: Canary, kind: FailureKind, now: Date) {
  const { phaseMs, intervalMs } = computeSlots(canary.monitorId, canary.region, CANARY_INTERVAL_SECONDS)
  const schedules = Array.from({ length: 86_400 - 600 }, (_, i) => {
    const schedule = { region: canary.region, everySeconds: 600 + i, forSeconds: FOR_SECONDS, kinds: [kind] }
    const startMs = computeNextStart(schedule, now).getTime()
    return { schedule, leftMs: startMs - now.getTime(), afterSlotMs: (startMs - phaseMs) % intervalMs }
  })
  const isGood = ({ leftMs, afterSlotMs }: (typeof schedules)[number]) =>
    leftMs > 20_000 && leftMs < 60_000 && afterSlotMs > 15_000 && afterSlotMs < 22_000
  return schedules.find(one => isGood(one) && !isFailing(one.schedule, now))!.schedule
}

t.test('An outage of each kind is detected and reported within the guarantee of its monitor', async t => {
  const key = randomBytes(32)
  const regions = REGIONS.slice(0, FAILURE_KINDS.length)
  const picket = await startPicket(t, { regions: [...regions], env: { SECRET_KEY: key.toString('base64') } })
  const db = createPostgres(picket.databaseUrl, 4)
  t.teardown(() => db.destroy())
  await makeOperator(db)
  const tools = { ...canaryTools(db, key), leaveUnchecked: clearVerdict }
  const far = { everySeconds: 86_400, forSeconds: 10, kinds: FAILURE_KINDS, origin: picket.origin }
  await createCanaries(tools, far, new Date())
  const canaries = await waitFor(
    async () => {
      const all = await loadCanaries(db)
      return all.length === regions.length && all.every(({ status }) => status === 'up') ? all : null
    },
    { label: 'the first verdict of each canary' },
  )

  const project = (await findCanaryProject(db))!
  const caller = {
    ...project,
    keyId: '',
    userId: null,
    scope: 'admin' as const,
    isOperator: true,
    actor: OPERATOR_ACTOR,
  }
  for (const [i, canary] of canaries.entries()) {
    const now = new Date()
    const schedule = findSchedule(canary, FAILURE_KINDS[i]!, now)
    await db.transaction(async tx => {
      const url = buildTargetUrl(picket.origin, schedule, tools.sign)
      await changeMonitor({ ...tools, db: tx }, caller, canary.monitorId, { url }, now)
      await saveCanary(tx, schedule, canary.monitorId, now)
    })
  }
  const failing = await loadCanaries(db)
  const reported = async () =>
    (
      await query<{ id: string }>(
        db,
        `SELECT DISTINCT a.monitor_id AS id FROM canary_alerts a JOIN deliveries d ON d.id = a.delivery_id
         WHERE d.event_name = 'monitor.down'`,
      )
    ).length === failing.length
  await waitFor(reported, { everyMs: 250, label: 'an alert about each outage' })

  for (const canary of failing) {
    const outage = getLatestOutage(canary, new Date())
    const [judged] = await measureOutages(db, [canary], outage.settledAt)
    const { kind, guarantee, stages, limits } = judged!
    const seconds = stages.filter(({ turn }) => turn === 'down').map(one => `${one.stage} ${one.seconds}`)
    const { downWithin, messageWithin } = limits
    t.equal(guarantee, 'kept', `${kind}: ${seconds.join(', ')} s; guaranteed ${downWithin} and ${messageWithin} s`)
  }
})
