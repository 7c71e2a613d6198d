import t from 'tap'
import { checkPlanLimit, PLAN_LIMITS } from '../../../control-plane/accounts/plans/plans.ts'
import { SourceCreate } from '../../../control-plane/integrations/data-sources/api/request-schema.ts'
import { MonitorCreate } from '../../../control-plane/monitoring/monitors/settings/schema.ts'

t.test('Plans have the documented limits', async t => {
  const { free, pro, business } = PLAN_LIMITS
  t.match(free, {
    monitors: 50,
    statusPages: 1,
    dataSources: 2,
    members: 3,
    customDomain: false,
    minIntervalSeconds: 30,
  })
  t.match(pro, {
    monitors: 500,
    statusPages: 10,
    dataSources: 20,
    members: 20,
    customDomain: true,
    minIntervalSeconds: 30,
  })
  t.match(business, { monitors: null, statusPages: null, dataSources: null, members: null, customDomain: true })
})

t.test('The minimum interval of every plan is that of the bodies of monitors and data sources', async t => {
  const [monitors, sources] = [MonitorCreate.properties.interval_seconds, SourceCreate.properties.fetch_interval_s]
  const shortest = Object.values(PLAN_LIMITS).map(({ minIntervalSeconds }) => minIntervalSeconds)
  t.same(shortest, [30, 30, 30])
  t.match([monitors, sources], [{ minimum: 30 }, { minimum: 30 }])
})

t.test('A limit can be reached but not exceeded; the refusal contains the limit and the count', async t => {
  const usage = { plan: 'free', counted: 'statusPages', limit: 1, used: 0 } as const
  t.equal(checkPlanLimit(usage, 1), null)
  t.equal(checkPlanLimit({ ...usage, used: 1 }, 1), 'the free plan includes 1 status page and 1 is in use')
  t.equal(checkPlanLimit(usage, 2), 'the free plan includes 1 status page and 0 are in use')
  t.equal(checkPlanLimit({ ...usage, limit: null, used: 9_999 }, 1), null)
})
