import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createCanaries } from '../../control-plane/canaries/actions.ts'
import { targetUrl } from '../../control-plane/canaries/address.ts'
import { measureOutages } from '../../control-plane/canaries/measure-actions.ts'
import {
  INTERVAL_SECONDS,
  isFailing,
  KINDS,
  type Kind,
  latestOutage,
  nextStart,
} from '../../control-plane/canaries/schedule.ts'
import { allCanaries, type Canary, findCanaryProject, storeCanary } from '../../control-plane/canaries/store.ts'
import { changeMonitor } from '../../control-plane/monitors/actions.ts'
import { createPostgres, query } from '../../control-plane/platform/postgres.ts'
import { leaveUnchecked } from '../../control-plane/verdict/actions.ts'
import { OPERATOR } from '../../control-plane/web/acting.ts'
import { slotsOf } from '../../probe-agent/schedule.ts'
import { REGIONS } from '../../shared/check.ts'
import { canaryTools, makeOperator } from '../support/canaries.ts'
import { startPicket } from '../support/picket.ts'
import { waitFor } from '../support/wait.ts'

// takes about 130 s

/** Long enough to be noticed whatever its kind. */
const FOR_SECONDS = 120

/** A schedule whose first failure is near, and begins so long before a check that there is time to spare on a slow machine. */
function scheduleOf(canary: Canary, kind: Kind, now: Date) {
  const { phaseMs, intervalMs } = slotsOf(canary.monitorId, canary.region, INTERVAL_SECONDS)
  const schedules = Array.from({ length: 86_400 - 600 }, (_, i) => {
    const schedule = { region: canary.region, everySeconds: 600 + i, forSeconds: FOR_SECONDS, kinds: [kind] }
    const startMs = nextStart(schedule, now).getTime()
    return { schedule, leftMs: startMs - now.getTime(), afterSlotMs: (startMs - phaseMs) % intervalMs }
  })
  const isGood = ({ leftMs, afterSlotMs }: (typeof schedules)[number]) =>
    leftMs > 20_000 && leftMs < 60_000 && afterSlotMs > 15_000 && afterSlotMs < 22_000
  return schedules.find(one => isGood(one) && !isFailing(one.schedule, now))!.schedule
}

t.test('An outage of each kind is noticed and reported within the guarantee of its monitor', async t => {
  const key = randomBytes(32)
  const regions = REGIONS.slice(0, KINDS.length)
  const picket = await startPicket(t, { regions: [...regions], env: { SECRET_KEY: key.toString('base64') } })
  const db = createPostgres(picket.databaseUrl, 4)
  t.teardown(() => db.destroy())
  await makeOperator(db)
  const tools = { ...canaryTools(db, key), leaveUnchecked }
  const far = { everySeconds: 86_400, forSeconds: 10, kinds: KINDS, origin: picket.origin }
  await createCanaries(tools, far, new Date())
  const canaries = await waitFor(
    async () => {
      const all = await allCanaries(db)
      return all.length === regions.length && all.every(({ status }) => status === 'up') ? all : null
    },
    { label: 'the first verdict of each canary' },
  )

  const project = (await findCanaryProject(db))!
  const caller = { ...project, keyId: '', userId: null, scope: 'admin' as const, isOperator: true, actor: OPERATOR }
  for (const [i, canary] of canaries.entries()) {
    const now = new Date()
    const schedule = scheduleOf(canary, KINDS[i]!, now)
    await db.transaction(async tx => {
      const url = targetUrl(picket.origin, schedule, tools.sign)
      await changeMonitor({ ...tools, db: tx }, caller, canary.monitorId, { url }, now)
      await storeCanary(tx, schedule, canary.monitorId, now)
    })
  }
  const failing = await allCanaries(db)
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
    const outage = latestOutage(canary, new Date())
    const [judged] = await measureOutages(db, [canary], outage.settledAt)
    const { kind, guarantee, stages, limits } = judged!
    const seconds = stages.filter(({ turn }) => turn === 'down').map(one => `${one.stage} ${one.seconds}`)
    const { downWithin, messageWithin } = limits
    t.equal(guarantee, 'kept', `${kind}: ${seconds.join(', ')} s; guaranteed ${downWithin} and ${messageWithin} s`)
  }
})
