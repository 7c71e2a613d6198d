import t from 'tap'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { listSilencedMonitors } from '../../control-plane/verdict/suppression/store.ts'
import { createDatabase } from '../support/database.ts'
import { countSuppressions, createScenario, formatEvents, type Scenario } from '../support/silences.ts'
import { insertTenant } from '../support/tenant.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

const newHouse = async () => createScenario(db, (await insertTenant(db)).projectId)
const one = async (house: Scenario, checks = '+') => {
  const [id] = (await house.addMonitors(1)) as [string]
  await house.check([id], checks)
  return id
}

t.test('An outage that begins and ends in a silence is stored and not sent', async t => {
  const house = await newHouse()
  const id = await one(house)
  await house.silence([id], 60)
  await house.check([id], '-+-+')
  await house.leap(60)
  t.equal(await house.sent(id), '')
  t.equal(await formatEvents(db, id), 'down up down up created resolved created resolved')
  t.equal(await countSuppressions(db), 0)
})

t.test('An outage that continues after a silence is sent then, once, and so is its end', async t => {
  const house = await newHouse()
  const id = await one(house)
  await house.silence([id], 60)
  await house.check([id], '-')
  t.same([...(await listSilencedMonitors(db, [id], house.now()))], [id])
  await house.pass(50)
  t.equal(await house.sent(id), '')
  await house.pass(10)
  t.equal(await house.sent(id), 'down created')
  t.same([...(await listSilencedMonitors(db, [id], house.now()))], [])
  await house.leap(120)
  await house.check([id], '+')
  t.equal(await house.sent(id), 'down created up resolved')
})

t.test('The deletion of an open incident stops no alert: neither of its monitor nor of another tenant', async t => {
  const [house, neighbour] = [await newHouse(), await newHouse()]
  const [id, other] = [await one(house), await one(neighbour)]
  await execute(db, 'UPDATE alert_rules SET remind_every_minutes = 5 WHERE project_id = ?', [house.projectId])
  await house.silence([id], 60)
  await neighbour.silence([other], 60)
  await house.check([id], '-')
  await neighbour.check([other], '-')
  await execute(db, 'DELETE FROM incidents WHERE project_id = ?', [house.projectId])
  await house.leap(60)
  t.equal(await house.sent(id), 'down')
  t.equal(await neighbour.sent(other), 'down created')
  const created = `SELECT FROM deliveries WHERE project_id = ? AND event_name = 'incident.created'`
  t.same(await query(db, created, [house.projectId]), [], 'nothing is sent about the deleted incident')
  t.same(await query(db, 'SELECT FROM reminders'), [])
})

t.test('The end of a known outage is sent after the silence', async t => {
  const house = await newHouse()
  const id = await one(house, '+-')
  t.equal(await house.sent(id), 'down created')
  await house.silence([id], 60)
  await house.check([id], '+')
  t.equal(await house.sent(id), 'down created')
  await house.leap(60)
  t.equal(await house.sent(id), 'down created up resolved')
})

t.test('A silence that is ended early sends what continues immediately', async t => {
  const house = await newHouse()
  const [lasting, brief] = [await one(house), await one(house)]
  const { id } = await house.silence([lasting, brief], 86_400)
  await house.check([lasting], '-')
  await house.check([brief], '-+')
  t.same([await house.sent(lasting), await house.sent(brief)], ['', ''])
  await house.endSilence(id)
  await house.look()
  t.same([await house.sent(lasting), await house.sent(brief)], ['down created', ''])
  t.equal(await countSuppressions(db), 0)
})

t.test('Of two silences the one that ends last counts, and maintenance counts too', async t => {
  const house = await newHouse()
  const id = await one(house)
  await house.silence([id], 120)
  await house.silence([id], 30)
  await house.maintain([id], 180)
  await house.check([id], '-')
  await house.leap(40)
  t.equal(await house.sent(id), '')
  await house.leap(90)
  t.equal(await house.sent(id), '', 'maintenance lasts')
  await house.leap(60)
  t.equal(await house.sent(id), 'down created')
})

t.test('A silence has no effect on monitors that it does not contain', async t => {
  const house = await newHouse()
  const [silenced, other] = [await one(house), await one(house)]
  await house.silence([silenced], 60)
  t.same([...(await listSilencedMonitors(db, [silenced, other], house.now()))], [silenced])
  await house.check([silenced, other], '-')
  t.same([await house.sent(silenced), await house.sent(other)], ['', 'down created'])
})
