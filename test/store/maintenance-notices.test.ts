import t from 'tap'
import { DEFAULT_LIMITS } from '../../control-plane/accounts/plans/plans.ts'
import { createPostgres, type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { notifySubscribers } from '../../control-plane/pages/subscribers/notice-actions.ts'
import { changeWindow, createWindow, deleteWindow } from '../../control-plane/verdict/maintenance/actions.ts'
import { advanceNotices, sendDueNotices } from '../../control-plane/verdict/maintenance/notices/notice-actions.ts'
import { lockWindowsWithDueNotice } from '../../control-plane/verdict/maintenance/store.ts'
import { createSubscriberFixture, PUBLIC_URL, type SubscriberFixture } from '../support/subscribers.ts'
import { insertMonitor } from '../support/verdict.ts'

const HOUR_MS = 3_600_000
const hours = (from: Date, count: number) => new Date(from.getTime() + count * HOUR_MS)

/** A page with one component and a window of its monitor from the tenth to the twelfth hour, announced three hours ahead. */
async function plan(subscribing: SubscriberFixture, body: object = {}) {
  const { db, tenant } = subscribing
  const start = new Date('2026-03-10T00:00:00Z')
  const tools = { db, review: async () => {}, limits: DEFAULT_LIMITS }
  const { componentId, monitorId } = await subscribing.addComponent('Shop')
  const times = { starts_at: hours(start, 10).toISOString(), ends_at: hours(start, 12).toISOString() }
  const created = { title: 'Move', monitor_ids: [monitorId], announce_minutes: 180, ...times, ...body }
  const window = await createWindow(tools, tenant.projectId, created, start)
  return {
    ...{ componentId, monitorId },
    windowId: window.id,
    at: (hour: number) => hours(start, hour),
    change: (changed: object, hour: number) =>
      changeWindow(tools, tenant.projectId, window.id, changed, hours(start, hour)),
    remove: (hour: number) => deleteWindow(tools, tenant.projectId, window.id, hours(start, hour)),
  }
}

/** Runs the loops of both roles at a time, in any number of processes. */
async function run(pools: Db[], now: Date): Promise<void> {
  await Promise.all(pools.map(db => sendDueNotices(db, 50, now)))
  await Promise.all(pools.map(db => notifySubscribers(db, PUBLIC_URL, now)))
}

const sentTo = async ({ db }: SubscriberFixture, subscriberId: string | undefined) => {
  const rows = await query<{ event: string }>(
    db,
    `SELECT e.data->'changes'->0->>'event' AS event FROM deliveries d JOIN events e ON e.id = d.event_id
     WHERE d.event_name = 'page.notice' AND d.subscriber_id = ? ORDER BY d.seq`,
    [subscriberId ?? null],
  )
  return rows.map(({ event }) => event.replace('maintenance.', ''))
}

t.test('Subscribers are sent each stage once by two control planes, by mail with a link to unsubscribe', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { db, url, smtp } = subscribing
  const other = createPostgres(url)
  t.teardown(() => other.destroy())
  const { at } = await plan(subscribing, { description: 'It is read-only meanwhile.' })
  const blog = await subscribing.addComponent('Blog')
  const [all] = await subscribing.addSubscribers(1)
  const [unconcerned] = await subscribing.addSubscribers(1, [blog.componentId])
  for (const hour of [6.9, 7, 7.1, 9.9, 10, 10.1, 11.9, 12, 12.1]) await run([db, other, db, other], at(hour))
  t.same(await sentTo(subscribing, all), ['announced', 'begun', 'ended'])
  t.same(await sentTo(subscribing, unconcerned), [])
  const mails = await smtp.waitFor(3)
  t.match(mails[0]?.raw, /Subject: \[acme\] Planned maintenance: Move/)
  t.match(mails[0]?.raw, /List-Unsubscribe:\s+<http:\/\/picket\.test\/status\/acme\/subscription/)
  t.match(mails[0]?.raw, /List-Unsubscribe-Post: List-Unsubscribe=One-Click/)
  t.match(mails[0]?.raw, 'It is read-only meanwhile.')
  t.match(mails[2]?.raw, /Subject: \[acme\] Maintenance completed: Move/)
})

t.test('A process that is killed while it sends a notice neither loses nor repeats it', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { db, url } = subscribing
  const killed = createPostgres(url)
  t.teardown(() => killed.destroy())
  const { at } = await plan(subscribing)
  const [id] = await subscribing.addSubscribers(1)
  const dying = killed.transaction(async tx => {
    for (const window of await lockWindowsWithDueNotice(tx, at(8), 50)) await advanceNotices(tx, window, at(8))
    await run([db], at(8))
    t.same(await sentTo(subscribing, id), [], 'another process leaves the window to this one')
    const [own] = await query<{ pid: number }>(tx, 'SELECT pg_backend_pid() AS pid')
    await execute(db, 'SELECT pg_terminate_backend(?)', [own!.pid])
    await query(tx, 'SELECT 1')
  })
  await t.rejects(dying)
  await run([db], at(8))
  await run([db], at(8.1))
  t.same(await sentTo(subscribing, id), ['announced'])
})

t.test('The same stage of a period cannot be stored twice', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { windowId, at } = await plan(subscribing)
  await run([subscribing.db], at(8))
  const again = execute(
    subscribing.db,
    `INSERT INTO maintenance_notices SELECT * FROM maintenance_notices WHERE window_id = ?`,
    [windowId],
  )
  await t.rejects(again, /maintenance_notices_pkey/)
})

t.test('A window that is changed or deleted before its announcement sends nothing about its former times', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { db } = subscribing
  const [id] = await subscribing.addSubscribers(1)
  const moved = await plan(subscribing)
  await moved.change({ starts_at: moved.at(30).toISOString(), ends_at: moved.at(31).toISOString() }, 1)
  for (const hour of [8, 11, 13]) await run([db], moved.at(hour))
  t.same(await sentTo(subscribing, id), [])
  await moved.remove(20)
  await run([db], moved.at(28))
  t.same(await sentTo(subscribing, id), [])
})

t.test('Announced maintenance that is deleted is cancelled, and running maintenance that is deleted ends', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { db } = subscribing
  const [id] = await subscribing.addSubscribers(1)
  const announced = await plan(subscribing)
  await run([db], announced.at(8))
  await announced.remove(8.5)
  await run([db], announced.at(8.5))
  t.same(await sentTo(subscribing, id), ['announced', 'cancelled'])
  const running = await plan(subscribing)
  for (const hour of [8, 10]) await run([db], running.at(hour))
  await running.remove(11)
  await run([db], running.at(11))
  await run([db], running.at(13))
  t.same((await sentTo(subscribing, id)).slice(2), ['announced', 'begun', 'ended'])
})

t.test('A page that shows none of the remaining monitors is sent the cancellation or the end', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { db, tenant } = subscribing
  const [id] = await subscribing.addSubscribers(1)
  const elsewhere = { monitor_ids: [await insertMonitor(db, tenant.projectId)] }
  const announced = await plan(subscribing)
  await run([db], announced.at(8))
  await announced.change(elsewhere, 8.5)
  for (const hour of [8.5, 10, 12]) await run([db], announced.at(hour))
  t.same(await sentTo(subscribing, id), ['announced', 'cancelled'])
  const running = await plan(subscribing)
  for (const hour of [8, 10]) await run([db], running.at(hour))
  await running.change(elsewhere, 11)
  for (const hour of [11, 12]) await run([db], running.at(hour))
  t.same((await sentTo(subscribing, id)).slice(2), ['announced', 'begun', 'ended'])
})

t.test('A page that shows only an added monitor is sent the announcement or the beginning', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { db, tenant } = subscribing
  const [id] = await subscribing.addSubscribers(1)
  const elsewhere = await insertMonitor(db, tenant.projectId)
  const announced = await plan(subscribing, { monitor_ids: [elsewhere] })
  await run([db], announced.at(8))
  t.same(await sentTo(subscribing, id), [])
  await announced.change({ monitor_ids: [elsewhere, announced.monitorId] }, 8.5)
  for (const hour of [8.5, 10]) await run([db], announced.at(hour))
  await announced.remove(11)
  await run([db], announced.at(11))
  t.same(await sentTo(subscribing, id), ['announced', 'begun', 'ended'])
  const running = await plan(subscribing, { monitor_ids: [elsewhere] })
  for (const hour of [8, 10]) await run([db], running.at(hour))
  await running.change({ monitor_ids: [elsewhere, running.monitorId] }, 11)
  for (const hour of [11, 12]) await run([db], running.at(hour))
  t.same((await sentTo(subscribing, id)).slice(3), ['begun', 'ended'])
})

t.test('A page that shows a remaining monitor is sent nothing about one that was removed', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { db } = subscribing
  const [id] = await subscribing.addSubscribers(1)
  const blog = await subscribing.addComponent('Blog')
  const { at, change, monitorId } = await plan(subscribing)
  await change({ monitor_ids: [monitorId, blog.monitorId] }, 1)
  await sendDueNotices(db, 50, at(8))
  await change({ monitor_ids: [blog.monitorId] }, 8)
  await run([db], at(8))
  t.same(await sentTo(subscribing, id), ['announced'], 'the announcement that waited is sent')
  for (const hour of [10, 12]) await run([db], at(hour))
  t.same(await sentTo(subscribing, id), ['announced', 'begun', 'ended'])
})

t.test('A new time of announced maintenance is sent once, a minute later, with the time before it', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { db, smtp } = subscribing
  const [id] = await subscribing.addSubscribers(1)
  const { at, change } = await plan(subscribing)
  const MINUTE = 1 / 60
  const iso = (hour: number) => at(hour).toISOString()
  await run([db], at(8))
  await change({ starts_at: iso(11) }, 8.5)
  await change({ starts_at: iso(30), ends_at: iso(32) }, 8.5 + 0.5 * MINUTE)
  await run([db], at(8.5 + 0.9 * MINUTE))
  t.same(await sentTo(subscribing, id), ['announced'], 'quick changes are collected')
  await run([db], at(8.5 + MINUTE))
  await run([db], at(8.5 + 2 * MINUTE))
  t.same(await sentTo(subscribing, id), ['announced', 'changed'])
  const [, mail] = await smtp.waitFor(2)
  t.match(mail?.raw, /Subject: \[acme\] Maintenance rescheduled: Move/)
  t.match(mail?.text, /Begins: +11 Mar 2026, 06:00 UTC\n.*Before: +10 Mar 2026, 10:00 UTC to 10 Mar 2026, 12:00 UTC/s)
  t.equal(mail?.headers.references, smtp.mails[0]?.headers.references, 'one conversation')

  await change({ title: 'Another title' }, 9)
  await change({ ends_at: iso(33) }, 9)
  await change({ ends_at: iso(32) }, 9 + 0.5 * MINUTE)
  await run([db], at(10))
  t.same(await sentTo(subscribing, id), ['announced', 'changed'], 'no change of the time')
  for (const hour of [29, 30, 31]) await run([db], at(hour))
  await change({ ends_at: iso(34) }, 31)
  for (const hour of [31.1, 32, 34]) await run([db], at(hour))
  t.same(await sentTo(subscribing, id), ['announced', 'changed', 'begun', 'changed', 'ended'])
  const [data] = await query<{ changes: { maintenance: object; previous: object }[] }>(
    db,
    `SELECT e.data->'changes' AS changes FROM events e WHERE e.name = 'page.notice' ORDER BY e.id DESC OFFSET 1 LIMIT 1`,
  )
  t.match(data?.changes, [
    {
      maintenance: { starts_at: iso(30), ends_at: iso(34), period_id: new RegExp(`-${at(10).getTime() / 1_000}$`) },
      previous: { starts_at: iso(30), ends_at: iso(32) },
    },
  ])
})

t.test(
  'A change of the time that begins, ends, is cancelled or silenced within the minute is not sent alone',
  async t => {
    const subscribing = await createSubscriberFixture(t)
    const { db } = subscribing
    const [id] = await subscribing.addSubscribers(1)
    const sent = async () => (await sentTo(subscribing, id)).splice(0)
    const begun = await plan(subscribing)
    await run([db], begun.at(8))
    await begun.change({ starts_at: begun.at(8.5).toISOString() }, 8.5)
    await run([db], begun.at(8.5))
    await begun.change({ ends_at: begun.at(8.61).toISOString() }, 8.6)
    await run([db], begun.at(8.61))
    t.same(await sent(), ['announced', 'begun', 'ended'])

    const cancelled = await plan(subscribing)
    await run([db], cancelled.at(8))
    await cancelled.change({ starts_at: cancelled.at(11).toISOString() }, 9)
    await cancelled.remove(9)
    await run([db], cancelled.at(9))
    t.same((await sent()).slice(3), ['announced', 'cancelled'])

    const silenced = await plan(subscribing)
    await run([db], silenced.at(8))
    await silenced.change({ starts_at: silenced.at(11).toISOString() }, 9)
    await silenced.change({ notify_subscribers: false }, 9)
    await run([db], silenced.at(9.5))
    await silenced.change({ notify_subscribers: true }, 9.6)
    await run([db], silenced.at(9.8))
    t.same((await sent()).slice(5), ['announced', 'changed'], 'subscribers learn of the new time when notices continue')
  },
)

t.test('A recurring period with another end is changed, and one that is moved is cancelled', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { db } = subscribing
  const [id] = await subscribing.addSubscribers(1)
  const nightly = { cron: '0 10 * * *', duration_minutes: 60, time_zone: 'UTC', starts_at: null, ends_at: null }
  const { at, change } = await plan(subscribing, { ...nightly, notify_subscribers: true })
  await run([db], at(8))
  await change({ duration_minutes: 90 }, 8)
  await run([db], at(8.1))
  t.same(await sentTo(subscribing, id), ['announced', 'changed'])
  await change({ cron: '0 11 * * *' }, 8.2)
  await run([db], at(8.2))
  t.same(await sentTo(subscribing, id), ['announced', 'changed', 'cancelled'])
  await run([db], at(8.3))
  t.same(await sentTo(subscribing, id), ['announced', 'changed', 'cancelled', 'announced'])
})

t.test('Notices that are turned off and on again continue with the next stage of the period', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { db } = subscribing
  const [id] = await subscribing.addSubscribers(1)
  const { at, change } = await plan(subscribing)
  await run([db], at(8))
  await change({ notify_subscribers: false }, 8.5)
  await run([db], at(8.6))
  await change({ notify_subscribers: true }, 9)
  for (const hour of [9, 10, 12]) await run([db], at(hour))
  t.same(await sentTo(subscribing, id), ['announced', 'begun', 'ended'])
})

t.test('An announcement that waits past the beginning is not sent', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { db } = subscribing
  const [id] = await subscribing.addSubscribers(1)
  const { at } = await plan(subscribing)
  await sendDueNotices(db, 50, at(9))
  await run([db], at(10.5))
  await run([db], at(10.6))
  t.same(await sentTo(subscribing, id), ['begun'])
})

t.test('A recurring window sends the notices of each night, one night at a time', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { db } = subscribing
  const [id] = await subscribing.addSubscribers(1)
  const nightly = { cron: '0 2 * * *', duration_minutes: 60, time_zone: 'UTC', starts_at: null, ends_at: null }
  const { at, change } = await plan(subscribing, nightly)
  await run([db], at(2))
  t.same(await sentTo(subscribing, id), [], 'recurring windows send nothing unless notify_subscribers is set')
  await change({ notify_subscribers: true }, 12)
  for (let hour = 12; hour < 60; hour += 0.5) await run([db], at(hour))
  t.same(await sentTo(subscribing, id), ['announced', 'begun', 'ended', 'announced', 'begun', 'ended'])
})
