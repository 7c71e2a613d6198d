import t from 'tap'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { deleteMonitor, pauseMonitor } from '../../control-plane/verdict/core/monitor-lifecycle-actions.ts'
import { deleteWindow } from '../../control-plane/verdict/maintenance/actions.ts'
import { reviewDueSilences } from '../../control-plane/verdict/suppression/review-actions.ts'
import { listSilencedMonitors, scheduleReview } from '../../control-plane/verdict/suppression/store.ts'
import { createLog } from '../../shared/process/log.ts'
import { createDatabase } from '../support/database.ts'
import { keepOpen } from '../support/open-transaction.ts'
import { runFanOut } from '../support/publishing.ts'
import { countSuppressions, createScenario, formatEvents, listCauses, type Scenario } from '../support/silences.ts'
import { insertTenant } from '../support/tenant.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
const other = createPostgres(url)
t.teardown(() => Promise.all([db.destroy(), other.destroy()]))

const log = createLog('test', 'silent')
const newHouse = async () => createScenario(db, (await insertTenant(db)).projectId)
const one = async (house: Scenario, checks = '+') => {
  const [id] = (await house.addMonitors(1)) as [string]
  await house.check([id], checks)
  return id
}

t.test('Outside maintenance everything is sent immediately', async t => {
  const house = await newHouse()
  const id = await one(house, '+-+')
  t.equal(await house.sent(id), 'down created up resolved')
  t.equal(await countSuppressions(db), 0)
})

t.test('An outage that begins and ends in maintenance is stored and not sent', async t => {
  const house = await newHouse()
  const id = await one(house)
  await house.maintain([id], 60)
  await house.check([id], '-+-+')
  await house.leap(60)
  t.equal(await house.sent(id), '')
  t.equal(await formatEvents(db, id), 'down up down up created resolved created resolved')
  t.equal(await countSuppressions(db), 0)
})

t.test('An outage that continues after maintenance is sent then, and so is its end', async t => {
  const house = await newHouse()
  const id = await one(house)
  await house.maintain([id], 60)
  await house.check([id], '-')
  await house.pass(50)
  t.equal(await house.sent(id), '')
  t.same([...(await listSilencedMonitors(db, [id], house.now()))], [id])
  await house.pass(10)
  t.equal(await house.sent(id), 'down created')
  t.same([...(await listSilencedMonitors(db, [id], house.now()))], [])
  await house.check([id], '+')
  t.equal(await house.sent(id), 'down created up resolved')
})

t.test('The end of a known outage is sent after maintenance, and a later outage only if it continues', async t => {
  const house = await newHouse()
  const [first, second] = [await one(house, '+-'), await one(house, '+-')]
  await house.maintain([first, second], 60)
  await house.check([first], '+')
  await house.check([second], '+-')
  t.equal(await house.sent(first), 'down created')
  await house.leap(60)
  t.equal(await house.sent(first), 'down created up resolved')
  t.equal(await house.sent(second), 'down created up resolved down created')
})

t.test('Cancelled maintenance ends the silence immediately', async t => {
  const house = await newHouse()
  const id = await one(house)
  const window = await house.maintain([id], 86_400)
  await house.check([id], '-')
  await house.pass(5)
  t.equal(await house.sent(id), '')
  await deleteWindow({ db, review: scheduleReview }, house.projectId, window.id, house.now())
  await house.look()
  t.equal(await house.sent(id), 'down created')
})

t.test(
  'A parent and twenty children go down: only the parent is reported, and it is the cause of the others',
  async t => {
    const house = await newHouse()
    const parent = await one(house)
    const children = await house.addMonitors(20)
    await house.check(children, '+')
    for (const child of children) await house.depend(child, [parent])
    await house.check([parent], '-')
    await house.check(children, '-')
    await house.pass(40)
    const sent = await Promise.all([parent, ...children].map(house.sent))
    t.same(sent.filter(Boolean), ['down created'])
    t.same(await listCauses(db, children[7]!), [{ transition: parent, incident: parent }])
    t.same(await listCauses(db, parent), [{ transition: null, incident: null }])

    await house.check([parent], '+')
    await house.check(children.slice(1), '+')
    await house.pass(40)
    t.same((await Promise.all(children.map(house.sent))).filter(Boolean), [], 'their own checks have time to recover')
    await house.pass(20)
    t.equal(await house.sent(children[0]!), 'down created', 'one stays down and is sent')
    t.same((await Promise.all(children.slice(1).map(house.sent))).filter(Boolean), [])
    await house.check([children[0]!], '+')
    t.equal(await house.sent(children[0]!), 'down created up resolved')
  },
)

t.test('An ancestor of a parent counts too, and the nearest ancestor that is down is the cause', async t => {
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
    [await house.sent(top), await house.sent(middle), await house.sent(child)],
    ['down created up resolved', '', ''],
  )
})

t.test('A child that is decided before its parent waits for the verdict of the parent', async t => {
  const house = await newHouse()
  const [parent, healthy] = (await house.addMonitors(2)) as [string, string]
  const [child, other] = (await house.addMonitors(2)) as [string, string]
  await house.check([parent, healthy, child, other], '+')
  await house.depend(child, [parent])
  await house.depend(other, [healthy])
  await house.check([parent], '-', 2)
  await house.check([child, other], '-')
  await house.pass(4)
  t.same([await house.sent(child), await house.sent(other)], ['', ''])
  await house.check([parent], '--', 2)
  t.equal(await house.sent(parent), 'down created')
  await house.pass(20)
  t.equal(await house.sent(other), 'down created', 'its parent could not be checked')
  t.equal(await house.sent(child), '')
  t.same(await listCauses(db, child), [{ transition: parent, incident: parent }], 'the cause is noted afterwards')
  await house.check([parent, child], '++++', 2)
  await house.leap(120)
  t.equal(await house.sent(child), '')
})

t.test('A child whose parent recovers before it goes down is reported', async t => {
  const house = await newHouse()
  const [parent, child] = (await house.addMonitors(2)) as [string, string]
  await house.check([parent, child], '+')
  await house.depend(child, [parent])
  await house.check([parent], '-', 2)
  await house.check([child], '-')
  t.equal(await house.sent(child), '')
  await house.check([parent], '+', 2)
  await house.pass(10)
  t.equal(await house.sent(child), 'down created')
})

t.test('Removing the parents ends the silence', async t => {
  const house = await newHouse()
  const [parent, child] = [await one(house, '+-'), await one(house)]
  await house.depend(child, [parent])
  await house.check([child], '-')
  await house.depend(child, [])
  await house.pass(60)
  t.equal(await house.sent(child), 'down created')
})

t.test(
  'A parent that is deleted or paused while it is down suppresses nothing, and neither do its ancestors',
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
    t.same([await house.sent(child), await house.sent(other)], ['', ''])
    await deleteMonitor(tools, house.projectId, middle, house.now())
    await pauseMonitor(tools, house.projectId, paused, house.now())
    for (let i = 0; i < 4; i++) await house.leap(30)
    t.same([await house.sent(child), await house.sent(other)], ['down created', 'down created'])
  },
)

t.test('A monitor that is paused during a silence sends only the end of a known outage', async t => {
  const house = await newHouse()
  const [unknown, known, over] = [await one(house), await one(house, '+-'), await one(house, '+-')]
  await house.maintain([unknown, known, over], 600)
  await house.check([unknown], '-')
  await house.check([over], '+')
  for (const id of [unknown, known, over]) {
    await pauseMonitor({ db, publicUrl: 'https://picket.example' }, house.projectId, id, house.now())
  }
  await house.leap(700)
  t.equal(await house.sent(unknown), '')
  t.equal(await house.sent(known), 'down created resolved', 'no monitor.up')
  t.equal(await house.sent(over), 'down created up resolved')
  t.equal(await countSuppressions(db), 0)
})

t.test('Two processes that review at the same time send everything once', async t => {
  const house = await newHouse()
  const ids = await house.addMonitors(60)
  await house.check(ids, '+')
  await house.maintain(ids, 30)
  await house.check(ids, '-')
  const after = new Date(house.now().getTime() + 60_000)
  await Promise.all([db, other, db, other].map(pool => reviewDueSilences({ db: pool, log }, 25, after)))
  while ((await reviewDueSilences({ db, log }, 25, after)) > 0);
  const sent = await Promise.all(ids.map(house.sent))
  t.same([...new Set(sent)], ['down created'])
})

/** Two tenants, each with a monitor that went down in maintenance, which has ended. */
async function createTwoTenants() {
  const houses = [await newHouse(), await newHouse()] as const
  const [a, b] = [await one(houses[0]), await one(houses[1])] as const
  for (const [house, id] of [[houses[0], a] as const, [houses[1], b] as const]) {
    await house.maintain([id], 30)
    await house.check([id], '-')
  }
  const later = (seconds: number) => new Date(houses[0].now().getTime() + seconds * 1_000)
  const review = (seconds: number, limit = 500) => reviewDueSilences({ db, log }, limit, later(seconds))
  return { a, b, sent: () => Promise.all([houses[0].sent(a), houses[1].sent(b)]), review }
}

t.test('A withheld alert that cannot be sent stops no other, and is tried again a minute later', async t => {
  const { a, sent, review } = await createTwoTenants()
  const [{ withheld }] = (await query(db, 'SELECT withheld FROM silences WHERE monitor_id = ?', [a])) as [
    { withheld: object },
  ]
  const store = (value: string) => execute(db, 'UPDATE silences SET withheld = ? WHERE monitor_id = ?', [value, a])
  await store(JSON.stringify(withheld).replaceAll(/"eventIds":\["[^"]+"/g, '"eventIds":["not an id"'))
  while ((await review(60)) > 0);
  t.same(await sent(), ['', 'down created'])
  await store(JSON.stringify(withheld))
  while ((await review(90)) > 0);
  t.same(await sent(), ['', 'down created'], 'it waits for a minute')
  while ((await review(121)) > 0);
  t.same(await sent(), ['down created', 'down created'])
})

t.test('Locked rows of one tenant do not delay the withheld alerts of another', async t => {
  for (const sql of [
    'SELECT FROM monitors WHERE id = ? FOR UPDATE',
    // a person edits an incident of the monitor
    'SELECT FROM monitors WHERE id = ? FOR KEY SHARE',
    'SELECT FROM silences WHERE monitor_id = ? FOR UPDATE',
    'SELECT FROM alert_channels WHERE project_id = (SELECT project_id FROM monitors WHERE id = ?) FOR UPDATE',
    `SELECT FROM events WHERE subject = 'monitor:' || ?::text FOR UPDATE`,
  ]) {
    const { a, sent, review } = await createTwoTenants()
    await other.transaction(async holder => {
      await keepOpen(holder)
      await query(holder, sql, [a])
      while ((await review(60, 1)) > 0);
      t.same(await sent(), ['', 'down created'], sql)
    })
    while ((await review(62)) > 0);
    await runFanOut(db, new Date())
    t.same(await sent(), ['down created', 'down created'], sql)
  }
})

t.test('A parent of a data source withholds nothing while the source is paused', async t => {
  const house = await newHouse()
  const [parent, child] = [await one(house), await one(house)]
  await house.depend(child, [parent])
  const [source] = await query<{ id: string }>(
    db,
    `INSERT INTO data_sources (id, project_id, name, url, method, fetch_interval_s, timeout_ms, next_fetch_at, created_at,
       updated_at)
     VALUES (gen_random_uuid(), ?, 'Cells', 'https://cells.example/', 'GET', 60, 1000, now(), now(), now()) RETURNING id`,
    [house.projectId],
  )
  await execute(db, 'UPDATE monitors SET data_source_id = ? WHERE id = ?', [source!.id, parent])
  await house.check([parent], '-')
  await house.check([child], '-')
  await house.pass(60)
  t.equal(await house.sent(child), '', 'the parent is down')
  await execute(db, 'UPDATE data_sources SET is_paused = true WHERE id = ?', [source!.id])
  await house.pass(90)
  t.equal(await house.sent(child), 'down created')
})
