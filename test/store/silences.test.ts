import t from 'tap'
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { deleteMonitor, pauseMonitor } from '../../control-plane/verdict/core/monitor-lifecycle-actions.ts'
import { deleteWindow } from '../../control-plane/verdict/maintenance/actions.ts'
import { reviewDueSilences } from '../../control-plane/verdict/suppression/review-actions.ts'
import { listSilencedMonitors, scheduleReview } from '../../control-plane/verdict/suppression/store.ts'
import { createDatabase } from '../support/database.ts'
import { countSuppressions, createScenario, formatEvents, listCauses, type Scenario } from '../support/silences.ts'
import { insertTenant } from '../support/tenant.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
const other = createPostgres(url)
t.teardown(() => Promise.all([db.destroy(), other.destroy()]))

const newHouse = async () => createScenario(db, (await insertTenant(db)).projectId)
const one = async (house: Scenario, checks = '+') => {
  const [id] = (await house.addMonitors(1)) as [string]
  await house.check([id], checks)
  return id
}

t.test('Outside maintenance everything is told at once', async t => {
  const house = await newHouse()
  const id = await one(house, '+-+')
  t.equal(await house.heard(id), 'down created up resolved')
  t.equal(await countSuppressions(db), 0)
})

t.test('An outage that begins and ends in maintenance is written down and told to nobody', async t => {
  const house = await newHouse()
  const id = await one(house)
  await house.maintain([id], 60)
  await house.check([id], '-+-+')
  await house.leap(60)
  t.equal(await house.heard(id), '')
  t.equal(await formatEvents(db, id), 'down up down up created resolved created resolved')
  t.equal(await countSuppressions(db), 0)
})

t.test('An outage that goes on when maintenance ends is told then, and so is its end', async t => {
  const house = await newHouse()
  const id = await one(house)
  await house.maintain([id], 60)
  await house.check([id], '-')
  await house.pass(50)
  t.equal(await house.heard(id), '')
  t.same([...(await listSilencedMonitors(db, [id], house.now()))], [id])
  await house.pass(10)
  t.equal(await house.heard(id), 'down created')
  t.same([...(await listSilencedMonitors(db, [id], house.now()))], [])
  await house.check([id], '+')
  t.equal(await house.heard(id), 'down created up resolved')
})

t.test('The end of an outage that was told is told after maintenance, one after it only if it goes on', async t => {
  const house = await newHouse()
  const [first, second] = [await one(house, '+-'), await one(house, '+-')]
  await house.maintain([first, second], 60)
  await house.check([first], '+')
  await house.check([second], '+-')
  t.equal(await house.heard(first), 'down created')
  await house.leap(60)
  t.equal(await house.heard(first), 'down created up resolved')
  t.equal(await house.heard(second), 'down created up resolved down created')
})

t.test('Maintenance that is called off ends the silence at once', async t => {
  const house = await newHouse()
  const id = await one(house)
  const window = await house.maintain([id], 86_400)
  await house.check([id], '-')
  await house.pass(5)
  t.equal(await house.heard(id), '')
  await deleteWindow({ db, review: scheduleReview }, house.projectId, window.id, house.now())
  await house.look()
  t.equal(await house.heard(id), 'down created')
})

t.test('A parent and twenty children go down: one is told, the others know why', async t => {
  const house = await newHouse()
  const parent = await one(house)
  const children = await house.addMonitors(20)
  await house.check(children, '+')
  for (const child of children) await house.depend(child, [parent])
  await house.check([parent], '-')
  await house.check(children, '-')
  await house.pass(40)
  const heard = await Promise.all([parent, ...children].map(house.heard))
  t.same(heard.filter(Boolean), ['down created'])
  t.same(await listCauses(db, children[7]!), [{ transition: parent, incident: parent }])
  t.same(await listCauses(db, parent), [{ transition: null, incident: null }])

  await house.check([parent], '+')
  await house.check(children.slice(1), '+')
  await house.pass(40)
  t.same((await Promise.all(children.map(house.heard))).filter(Boolean), [], 'their own checks have their chance')
  await house.pass(20)
  t.equal(await house.heard(children[0]!), 'down created', 'one stays down and is told')
  t.same((await Promise.all(children.slice(1).map(house.heard))).filter(Boolean), [])
  await house.check([children[0]!], '+')
  t.equal(await house.heard(children[0]!), 'down created up resolved')
})

t.test('A parent’s parent counts too, and the nearest that is down is the cause', async t => {
  const house = await newHouse()
  const [top, middle, child] = [await one(house), await one(house), await one(house)]
  await house.depend(middle, [top])
  await house.depend(child, [middle])
  await house.check([top], '-')
  await house.check([child], '-')
  t.same(await listCauses(db, child), [{ transition: top, incident: top }])
  await house.check([child], '+')
  await house.check([middle], '-')
  await house.check([child], '-')
  t.same((await listCauses(db, child))[1], { transition: middle, incident: middle })
  await house.check([top, middle, child], '+')
  await house.leap(120)
  t.same(
    [await house.heard(top), await house.heard(middle), await house.heard(child)],
    ['down created up resolved', '', ''],
  )
})

t.test('A child that is judged before its parent waits for what becomes of the parent', async t => {
  const house = await newHouse()
  const [parent, well] = (await house.addMonitors(2)) as [string, string]
  const [child, other] = (await house.addMonitors(2)) as [string, string]
  await house.check([parent, well, child, other], '+')
  await house.depend(child, [parent])
  await house.depend(other, [well])
  await house.check([parent], '-', 2)
  await house.check([child, other], '-')
  await house.pass(4)
  t.same([await house.heard(child), await house.heard(other)], ['', ''])
  await house.check([parent], '--', 2)
  t.equal(await house.heard(parent), 'down created')
  await house.pass(20)
  t.equal(await house.heard(other), 'down created', 'nobody could say how its parent is')
  t.equal(await house.heard(child), '')
  t.same(await listCauses(db, child), [{ transition: parent, incident: parent }], 'the cause is noted afterwards')
  await house.check([parent, child], '++++', 2)
  await house.leap(120)
  t.equal(await house.heard(child), '')
})

t.test('A child whose parent recovers from a doubt is told of', async t => {
  const house = await newHouse()
  const [parent, child] = (await house.addMonitors(2)) as [string, string]
  await house.check([parent, child], '+')
  await house.depend(child, [parent])
  await house.check([parent], '-', 2)
  await house.check([child], '-')
  t.equal(await house.heard(child), '')
  await house.check([parent], '+', 2)
  await house.pass(10)
  t.equal(await house.heard(child), 'down created')
})

t.test('Parents that are taken away end the silence', async t => {
  const house = await newHouse()
  const [parent, child] = [await one(house, '+-'), await one(house)]
  await house.depend(child, [parent])
  await house.check([child], '-')
  await house.depend(child, [])
  await house.pass(60)
  t.equal(await house.heard(child), 'down created')
})

t.test(
  'A parent that is deleted or paused while it is down keeps nobody silent any more, nor do those above it',
  async t => {
    const house = await newHouse()
    const tools = { db, publicUrl: 'https://picket.example' }
    const [top, middle, paused] = [await one(house, '+-'), await one(house), await one(house, '+-')]
    const [child, other] = [await one(house), await one(house)]
    await house.depend(middle, [top])
    await house.depend(child, [middle])
    await house.depend(other, [paused])
    await house.check([child, other], '-')
    await house.pass(60)
    t.same([await house.heard(child), await house.heard(other)], ['', ''])
    await deleteMonitor(tools, house.projectId, middle, house.now())
    await pauseMonitor(tools, house.projectId, paused, house.now())
    for (let i = 0; i < 4; i++) await house.leap(30)
    t.same([await house.heard(child), await house.heard(other)], ['down created', 'down created'])
  },
)

t.test('A monitor that is paused in a silence leaves nothing to tell but the end of what was told', async t => {
  const house = await newHouse()
  const [untold, told, over] = [await one(house), await one(house, '+-'), await one(house, '+-')]
  await house.maintain([untold, told, over], 600)
  await house.check([untold], '-')
  await house.check([over], '+')
  for (const id of [untold, told, over]) {
    await pauseMonitor({ db, publicUrl: 'https://picket.example' }, house.projectId, id, house.now())
  }
  await house.leap(700)
  t.equal(await house.heard(untold), '')
  t.equal(await house.heard(told), 'down created resolved', 'decisions 4.8: no monitor.up')
  t.equal(await house.heard(over), 'down created up resolved')
  t.equal(await countSuppressions(db), 0)
})

t.test('Two processes that look at the same time tell everything once', async t => {
  const house = await newHouse()
  const ids = await house.addMonitors(60)
  await house.check(ids, '+')
  await house.maintain(ids, 30)
  await house.check(ids, '-')
  const after = new Date(house.now().getTime() + 60_000)
  await Promise.all([db, other, db, other].map(pool => reviewDueSilences(pool, 25, after)))
  while ((await reviewDueSilences(db, 25, after)) > 0);
  const heard = await Promise.all(ids.map(house.heard))
  t.same([...new Set(heard)], ['down created'])
})
