import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { DEFAULT_LIMITS } from '../../control-plane/accounts/plans/plans.ts'
import {
  lockSubscribers,
  recordSubscriberResults,
} from '../../control-plane/alerting/deliveries/attempts/subscriber-failure-actions.ts'
import { decryptAddress } from '../../control-plane/alerting/deliveries/rendering/encrypted-address.ts'
import type { DeliveryOutcome } from '../../control-plane/alerting/deliveries/types.ts'
import { up as removeDeletedComponents } from '../../control-plane/foundation/migrations/postgres/0070-subscriber-choices.ts'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { deleteComponent } from '../../control-plane/pages/admin/components/component-actions.ts'
import { changePage } from '../../control-plane/pages/admin/page-actions.ts'
import { changeChoice, confirmSubscriber, subscribe } from '../../control-plane/pages/subscribers/actions.ts'
import { deleteOldDeliveries, deleteUnconfirmed } from '../../control-plane/pages/subscribers/cleanup-store.ts'
import { notifySubscribers } from '../../control-plane/pages/subscribers/notice-actions.ts'
import { findSubscriber } from '../../control-plane/pages/subscribers/store.ts'
import { openIncident, postUpdate } from '../../control-plane/verdict/incidents/api/actions.ts'
import { publishOutages } from '../support/publishing.ts'
import { startReceiver } from '../support/receiver.ts'
import { insertStatusPage } from '../support/status-pages.ts'
import { createSubscriberFixture, PUBLIC_URL, type SubscriberFixture } from '../support/subscribers.ts'
import { waitFor } from '../support/wait.ts'

/** Sends everything that is due at `now`, as the rounds of the worker do. */
async function sendAll({ db }: SubscriberFixture, now = new Date()): Promise<Date | null> {
  for (;;) {
    const next = await notifySubscribers(db, PUBLIC_URL, now)
    if (next === null || next > now) return next
  }
}

const open = ({ db, tenant }: SubscriberFixture, title: string, monitorIds: string[], now = new Date()) =>
  openIncident(
    { db, publicUrl: PUBLIC_URL, limits: DEFAULT_LIMITS },
    tenant,
    { title, monitor_ids: monitorIds, message: 'Words.' },
    now,
  )

const readDeliveries = ({ db }: SubscriberFixture) =>
  query<{ subscriberId: string; status: string; title: string; changes: number }>(
    db,
    `SELECT subscriber_id AS "subscriberId", d.status, e.data->'changes'->0->'incident'->>'title' AS title,
       json_array_length(e.data->'changes') AS changes
     FROM deliveries d JOIN events e ON e.id = d.event_id WHERE d.event_name = 'page.notice' ORDER BY d.seq`,
  )

t.test('More subscribers than one batch receive each incident once, in order', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { monitorId } = await subscribing.addComponent('Shop')
  const ids = await subscribing.addSubscribers(1_100)
  await open(subscribing, 'First', [monitorId])
  await open(subscribing, 'Second', [monitorId])
  await Promise.all([sendAll(subscribing), sendAll(subscribing)])
  const sent = await readDeliveries(subscribing)
  const titles = new Map(ids.map(id => [id, [] as string[]]))
  for (const { subscriberId, title } of sent) titles.get(subscriberId)?.push(title)
  t.ok([...titles.values()].every(mine => mine.join() === 'First,Second'))
  t.same(await query(subscribing.db, 'SELECT seq FROM page_notices'), [])
})

t.test('Incidents outside the page, or of components without subscribers, are not sent', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { db, tenant } = subscribing
  const [shop, blog] = [await subscribing.addComponent('Shop'), await subscribing.addComponent('Blog')]
  const [all] = await subscribing.addSubscribers(1)
  const [chose] = await subscribing.addSubscribers(1, [blog.componentId])
  await execute(db, 'DELETE FROM status_page_components WHERE id = ?', [shop.componentId])
  await open(subscribing, 'Of another page', [shop.monitorId])
  const incident = await open(subscribing, 'Of the blog', [blog.monitorId])
  const tools = { db, publicUrl: PUBLIC_URL, limits: DEFAULT_LIMITS }
  await postUpdate(tools, tenant, incident.id, { message: 'hush', is_internal: true, status: 'identified' }, new Date())
  await postUpdate(tools, tenant, incident.id, { message: 'hush', is_internal: true, status: 'resolved' }, new Date())
  await open(subscribing, 'Of everything', [])
  await sendAll(subscribing)
  const sent = await readDeliveries(subscribing)
  const listTitles = (id: string | undefined) => sent.filter(one => one.subscriberId === id).map(({ title }) => title)
  t.same(
    listTitles(all),
    ['Of the blog', 'Of the blog', 'Of everything'],
    'the public update, the resolution, and the last one',
  )
  t.same(listTitles(chose), listTitles(all))
  const stored = await query<{ data: object }>(db, `SELECT data FROM events WHERE name = 'page.notice'`)
  t.notMatch(JSON.stringify(stored), 'hush')
})

t.test('A deleted component leaves the choices of subscribers; who chose nothing else gets everything', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { db, tenant, page } = subscribing
  const [shop, blog] = [await subscribing.addComponent('Shop'), await subscribing.addComponent('Blog')]
  const [one] = await subscribing.addSubscribers(1, [shop.componentId])
  const [both] = await subscribing.addSubscribers(1, [shop.componentId, blog.componentId])
  const choices = async () => {
    const rows = await query<{ id: string; chosen: string[] | null }>(
      db,
      'SELECT id, component_ids AS chosen FROM page_subscribers',
    )
    return new Map(rows.map(({ id, chosen }) => [id, chosen]))
  }
  const expected = new Map([
    [one, null],
    [both, [blog.componentId]],
  ])
  const before = await choices()
  await deleteComponent(db, tenant.projectId, page.id, shop.componentId, new Date())
  t.same(await choices(), expected)

  for (const [id, chosen] of before)
    await execute(db, 'UPDATE page_subscribers SET component_ids = CAST(? AS uuid[]) WHERE id = ?', [chosen, id])
  await removeDeletedComponents(db)
  t.same(await choices(), expected, 'the migration does it for components that were deleted before')

  await open(subscribing, 'Of the blog', [blog.monitorId])
  await sendAll(subscribing)
  t.same((await readDeliveries(subscribing)).map(({ subscriberId }) => subscriberId).sort(), [one, both].sort())
})

t.test('A component that was deleted since the form was shown is not stored in a choice', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { db, tenant, page, tools } = subscribing
  const [shop, blog] = [await subscribing.addComponent('Shop'), await subscribing.addComponent('Blog')]
  const both = [shop.componentId, blog.componentId]
  const [id] = await subscribing.addSubscribers(1)
  const save = async (chosen: string[]) =>
    changeChoice(tools, (await findSubscriber(db, null, id!))!, chosen, new Date())
  const ask = (text: string, componentIds: string[]) =>
    subscribe(tools, page, { address: { kind: 'email', text }, componentIds }, new Date())
  await deleteComponent(db, tenant.projectId, page.id, shop.componentId, new Date())
  t.same(await save(both), [blog.componentId])
  t.equal(await save([shop.componentId]), 'none')
  t.equal(await ask('ann@example.com', [shop.componentId]), 'none')
  t.equal(await ask('ben@example.com', both), 'requested')
  const stored = await query(db, 'SELECT component_ids AS chosen FROM page_subscribers')
  t.same(stored, [{ chosen: [blog.componentId] }, { chosen: [blog.componentId] }])
})

t.test('A form changes the choice of an address only together with a confirmation that is sent', async t => {
  const { tools, page, db, ...subscribing } = await createSubscriberFixture(t)
  const [shop, blog] = [await subscribing.addComponent('Shop'), await subscribing.addComponent('Blog')]
  const start = new Date()
  const send = (componentIds: string[] | null, minutes: number) =>
    subscribe(
      tools,
      page,
      { address: { kind: 'email', text: 'ann@example.com' }, componentIds },
      new Date(start.getTime() + minutes * 60_000),
    )
  const chosen = async () =>
    (await query<{ chosen: string[] | null }>(db, 'SELECT component_ids AS chosen FROM page_subscribers'))[0]!.chosen
  await send([shop.componentId], 0)
  await send([blog.componentId], 1)
  t.same(await chosen(), [shop.componentId], 'no second confirmation is sent within ten minutes')
  await send([blog.componentId], 11)
  t.same(await chosen(), [blog.componentId])
  await execute(db, 'UPDATE page_subscribers SET confirmed_at = now(), paused_at = now()')
  await send(null, 30)
  t.same(await chosen(), [blog.componentId], 'the choice of a confirmed address that is paused stays')
})

t.test('An address is asked for confirmation five times an hour on all pages together', async t => {
  const { tools, page, db, tenant } = await createSubscriberFixture(t)
  const address = { kind: 'webhook' as const, text: 'https://hooks.example.com/a' }
  const pages = [page]
  for (const name of ['second', 'third']) {
    const id = await insertStatusPage(db, tenant.projectId, name)
    pages.push({ id, name, publicUrl: `${PUBLIC_URL}/status/${name}` })
  }
  const start = Date.now()
  const ask = async (minutes: number) => {
    for (const one of pages)
      await subscribe(tools, one, { address, componentIds: null }, new Date(start + minutes * 60_000))
  }
  const countSent = async () =>
    (await query(db, `SELECT FROM deliveries WHERE event_name = 'page.confirmation'`)).length
  for (const minutes of [0, 11, 22, 33, 44, 55]) await ask(minutes)
  t.equal(await countSent(), 5)
  await ask(61)
  t.equal(await countSent(), 8, 'those of the first minutes are over an hour old')
})

t.test('Many simultaneous outages are one message with the components of each subscriber', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { db, tenant, smtp } = subscribing
  const components = []
  for (let i = 0; i < 6; i++) components.push(await subscribing.addComponent(`Service ${i}`))
  await subscribing.addSubscribers(1)
  await subscribing.addSubscribers(1, [components[0]!.componentId, components[1]!.componentId])
  const now = new Date(Date.now() - 10_000)
  const down = components.map(({ monitorId }) => ({ monitorId, status: 'down' as const }))
  await publishOutages(db, tenant, down, now)
  t.same(await sendAll(subscribing, now), new Date(now.getTime() + 10_000), 'they are deferred')
  await sendAll(subscribing, new Date(now.getTime() + 10_000))
  const mails = (await smtp.waitFor(2)).toSorted((a, b) => a.raw.length - b.raw.length)
  t.same(
    mails.map(mail => mail.headers.subject),
    ['[acme] 2 incidents changed', '[acme] 6 incidents changed'],
  )
})

t.test('The text of a key without a creator is sent, also when outages come just before it', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { db, tenant, smtp } = subscribing
  const components = []
  for (let i = 0; i < 3; i++) components.push(await subscribing.addComponent(`Service ${i}`))
  await subscribing.addSubscribers(1)
  const at = (seconds: number) => new Date(start + seconds * 1_000)
  const start = Date.now() - 20_000
  const down = components.map(({ monitorId }) => ({ monitorId, status: 'down' as const }))
  await publishOutages(db, tenant, down, at(0))
  const [incident] = await query<{ id: string }>(db, 'SELECT id FROM incidents LIMIT 1')
  const tools = { db, publicUrl: PUBLIC_URL, limits: DEFAULT_LIMITS }
  const byKey = { projectId: tenant.projectId, userId: null }
  const update = { message: 'We are on it.', status: 'identified' as const }
  t.match(await postUpdate(tools, byKey, incident!.id, update, at(1)), { author_id: null })
  await sendAll(subscribing, at(12))
  t.same(
    (await readDeliveries(subscribing)).map(({ changes }) => changes),
    [1, 1, 1, 1],
  )
  const mails = await smtp.waitFor(4)
  t.equal(mails.filter(({ raw }) => raw.includes('We are on it.')).length, 1)
})

t.test('A message about an outage names the component, and not the monitor', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { db, tenant } = subscribing
  const { componentId, monitorId } = await subscribing.addComponent('Shop')
  await execute(db, `UPDATE status_page_components SET name = 'Checkout' WHERE id = ?`, [componentId])
  await subscribing.addSubscribers(1)
  const now = new Date(Date.now() - 10_000)
  await publishOutages(db, tenant, [{ monitorId, status: 'down' }], now)
  await sendAll(subscribing, new Date(now.getTime() + 10_000))
  t.same(
    (await readDeliveries(subscribing)).map(({ title }) => title),
    ['Checkout is down'],
  )
  const stored = await query<{ data: object }>(db, `SELECT data FROM events WHERE name = 'page.notice'`)
  t.notMatch(JSON.stringify(stored), 'Shop')
})

t.test('An unpublished page sends nothing, and later neither', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { db, tenant, page } = subscribing
  await subscribing.addSubscribers(3)
  const publish = (is_published: boolean) =>
    changePage(
      { db, checkLiteral: () => null, publicUrl: PUBLIC_URL },
      tenant.projectId,
      page.id,
      { is_published },
      new Date(),
    )
  await open(subscribing, 'Waiting', [])
  await publish(false)
  await open(subscribing, 'Hidden', [])
  t.equal(await sendAll(subscribing), null)
  await publish(true)
  await open(subscribing, 'Shown', [])
  await sendAll(subscribing)
  t.same(
    (await readDeliveries(subscribing)).map(({ title }) => title),
    ['Shown', 'Shown', 'Shown'],
  )
})

t.test(
  'A mail address is paused after ten consecutive refusals; an unreachable mail server does not count',
  async t => {
    const subscribing = await createSubscriberFixture(t)
    const { db, smtp } = subscribing
    const [id] = await subscribing.addSubscribers(1)
    const readState = async () =>
      (
        await query<{ failures: number; paused: boolean }>(
          db,
          `SELECT consecutive_failures AS failures, paused_at IS NOT NULL AS paused FROM page_subscribers WHERE id = ?`,
          [id!],
        )
      )[0]
    const ended = (count: number) =>
      waitFor(async () => {
        const deliveries = await readDeliveries(subscribing)
        return deliveries.length === count && deliveries.every(({ status }) => status !== 'pending')
      })
    smtp.replyWith(...Array.from({ length: 9 }, () => '550 5.1.1 No such user'))
    for (let i = 0; i < 9; i++) await open(subscribing, `Incident ${i}`, [])
    await sendAll(subscribing)
    await ended(9)
    t.same(await readState(), { failures: 9, paused: false })
    const unreachable = { responseCode: null, error: 'no connection to the mail server' } as DeliveryOutcome
    const end = { subscriberId: id!, via: 'mail' as const, outcome: unreachable, succeeded: false }
    await db.transaction(async tx => recordSubscriberResults(tx, await lockSubscribers(tx, [end]), [end], new Date()))
    t.same(
      await readState(),
      { failures: 9, paused: false },
      'an unreachable mail server is not a failure of the address',
    )
    smtp.replyWith('550 5.1.1 No such user')
    await open(subscribing, 'The tenth', [])
    await open(subscribing, 'The eleventh', [])
    await sendAll(subscribing)
    await ended(11)
    t.same(await readState(), { failures: 10, paused: true })
    t.same((await readDeliveries(subscribing)).at(-1)?.status, 'skipped')
    await open(subscribing, 'The twelfth', [])
    await sendAll(subscribing)
    t.equal((await readDeliveries(subscribing)).length, 11, 'nothing is queued for it')
    t.equal(smtp.mails.length, 0)
  },
)

t.test('A webhook subscribes with the posted confirm_url and gets signed deliveries', async t => {
  const subscribing = await createSubscriberFixture(t)
  const { tools, page } = subscribing
  const receiver = await startReceiver(t)
  const wish = { address: { kind: 'webhook' as const, text: `${receiver.url}/hook?token=1` }, componentIds: null }
  await subscribe(tools, page, wish, new Date())
  await subscribe(tools, page, wish, new Date())
  const [confirmation] = await receiver.waitFor(1)
  t.match(confirmation!.json, { event: 'page.confirmation', data: { page: { name: 'acme' }, confirm_url: /^http/ } })
  await open(subscribing, 'Not yet', [])
  const { searchParams } = new URL(confirmation!.json.data.confirm_url)
  const link = Object.fromEntries(searchParams) as { id: string; until: string; token: string }
  t.equal(await confirmSubscriber(tools, page.id, link, new Date(Date.now() + 86_400_001)), null, 'after a day')
  t.ok(await confirmSubscriber(tools, page.id, link, new Date()))
  await open(subscribing, 'Heard', [])
  await sendAll(subscribing)
  const [, notice] = await receiver.waitFor(2)
  t.match(notice!.json.data.changes, [
    { event: 'incident.created', incident: { title: 'Heard' }, update: { message: 'Words.' } },
  ])
  const { signing_secret: secret } = confirmation!.json.data
  t.ok(new Webhook(secret).verify(notice!.rawBody, notice!.headers as Record<string, string>))
  const [stored] = await query<{ id: string; projectId: string; address: Buffer; config: Buffer }>(
    tools.db,
    `SELECT d.id, d.project_id AS "projectId", d.request_address AS address, s.config
     FROM deliveries d JOIN page_subscribers s ON s.id = d.subscriber_id`,
  )
  const shown = decryptAddress(stored!.address, stored!, tools.secrets)
  t.equal(shown, `${new URL(receiver.url).origin}/********`, 'the address is masked in the log')
  t.notMatch(stored?.config.toString('latin1'), 'token')
})

t.test(
  'An address is asked once in ten minutes and by five pages an hour, and deleted without confirmation',
  async t => {
    const subscribing = await createSubscriberFixture(t)
    const { tools, page, db } = subscribing
    const wish = { address: { kind: 'email' as const, text: 'ann@example.com' }, componentIds: null }
    const start = new Date()
    const after = (minutes: number) => new Date(start.getTime() + minutes * 60_000)
    const asked = async () =>
      (await query<{ count: number }>(db, `SELECT count(*) AS count FROM events WHERE name = 'page.confirmation'`))[0]
        ?.count
    for (const minutes of [0, 1, 9]) await subscribe(tools, page, wish, after(minutes))
    t.equal(await asked(), 1)
    await Promise.all(
      [1, 2, 3].map(() =>
        subscribe(tools, page, { ...wish, address: { kind: 'email', text: 'ben@example.com' } }, start),
      ),
    )
    t.equal(await asked(), 2, 'also with concurrent requests')
    await subscribe(tools, page, wish, after(11))
    t.equal(await asked(), 3)
    const everywhere = { ...wish, address: { kind: 'email' as const, text: 'cid@example.com' } }
    for (let i = 0; i < 7; i++) {
      const id = await insertStatusPage(db, subscribing.tenant.projectId, `page-${i}`)
      await subscribe(tools, { ...page, id }, everywhere, start)
    }
    t.equal(await asked(), 8, 'not by the sixth and seventh page')
    t.equal(await deleteUnconfirmed(db, after(5)), 6, 'Ben, and Cid five times')
    t.equal(await deleteUnconfirmed(db, after(12)), 1, 'Ann')
    t.same(await query(db, 'SELECT id FROM page_subscribers'), [])
    await subscribing.addSubscribers(2)
    await open(subscribing, 'Long ago', [])
    await sendAll(subscribing)
    await waitFor(async () => (await readDeliveries(subscribing)).every(({ status }) => status === 'delivered'))
    t.equal(await deleteOldDeliveries(db, after(60)), 2)
  },
)
