import t from 'tap'
import { migrateClickhouse } from '../../../control-plane/foundation/migrations/clickhouse/index.ts'
import { createClickhouse } from '../../../control-plane/foundation/platform/clickhouse.ts'
import { createPostgres, execute } from '../../../control-plane/foundation/platform/postgres/client.ts'
import { createGroup } from '../../../control-plane/pages/admin/components/group-actions.ts'
import type { ComponentView, LoadedPage } from '../../../control-plane/pages/core/types.ts'
import { createViewReader } from '../../../control-plane/pages/public/view/view-reader.ts'
import { createClickhouseDatabase } from '../../support/clickhouse.ts'
import { createDatabase } from '../../support/database.ts'
import { insertPage } from '../../support/stored-page.ts'

const db = createPostgres((await createDatabase(t)).url, 5)
const { url } = await createClickhouseDatabase(t)
await migrateClickhouse(url)
const clickhouse = createClickhouse(url)
t.teardown(async () => {
  await clickhouse.close()
  await db.destroy()
})

const DAY_MS = 86_400_000
/** Pages are rendered at noon, so that no midnight passes between two lines. */
const now = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2)
const ago = (ms: number) => new Date(now.getTime() - ms)
const daysAgo = (days: number, hour = 0) =>
  new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS - days * DAY_MS + hour * 3_600_000)
/** Waits for the history, also on a busy machine. */
const createReader = (from = clickhouse, clocks = { now: () => now, monotonicMs: () => 0 }) =>
  createViewReader({ db, clickhouse: from, publicUrl: 'http://picket.test', ...clocks, historyTimeoutMs: 60_000 })
const toDate = (at: Date) => at.toISOString().slice(0, 10)

/** A published page of a separate project, with functions to fill and to read it. */
async function scene(fields: { show_response_times?: boolean; show_uptime_percentage?: boolean } = {}) {
  const page = await insertPage(db, now, fields)
  const read = createReader()
  return {
    ...page,
    read: (known: LoadedPage | null = null) => read({ slug: page.slug }, known),
    view: async () => (await read({ slug: page.slug }, null))!.view,
  }
}

const listComponents = (view: LoadedPage['view']): ComponentView[] =>
  view.sections.flatMap(section => (section.kind === 'group' ? [...section.group.components] : [section.component]))
const findDay = (component: ComponentView | undefined, date: string) => component?.days?.find(day => day.date === date)

t.test(
  'Bars show the time in each state by transitions; time before the creation and paused time are unknown',
  async t => {
    const page = await scene()
    const monitor = await page.monitor('up', [
      [daysAgo(5, 12), 'up'],
      [daysAgo(4, 6), 'down'],
      [daysAgo(4, 9), 'up'],
      [daysAgo(3, 23), 'degraded'],
      [daysAgo(2, 2), 'up'],
      [daysAgo(1, 0), null],
    ])
    await page.component('Shop', monitor)
    const [component] = listComponents(await page.view())
    t.equal(component?.days?.length, 90)
    const hours = (up: number, degraded: number, down: number, unknown: number) => ({
      upSeconds: up * 3_600,
      degradedSeconds: degraded * 3_600,
      downSeconds: down * 3_600,
      maintenanceSeconds: 0,
      unknownSeconds: unknown * 3_600,
    })
    t.match(findDay(component, toDate(daysAgo(6))), { status: 'unknown', ...hours(0, 0, 0, 24) })
    t.match(findDay(component, toDate(daysAgo(5))), { status: 'operational', ...hours(12, 0, 0, 12) })
    t.match(findDay(component, toDate(daysAgo(4))), { status: 'outage', ...hours(21, 0, 3, 0) })
    t.match(findDay(component, toDate(daysAgo(3))), { status: 'degraded', ...hours(23, 1, 0, 0) })
    t.match(findDay(component, toDate(daysAgo(2))), { status: 'degraded', ...hours(22, 2, 0, 0) })
    t.match(findDay(component, toDate(daysAgo(1))), { status: 'unknown', ...hours(0, 0, 0, 24) })
    t.equal(component?.uptimePercent, Math.floor((81 / 84) * 1_000_000) / 10_000)
  },
)

t.test('A state that began before the 90 days fills them, and every day adds up', async t => {
  const page = await scene()
  await page.component(
    'Shop',
    await page.monitor('up', [
      [daysAgo(200), 'down'],
      [daysAgo(120), 'up'],
    ]),
  )
  const [component] = listComponents(await page.view())
  const days = component!.days!
  t.ok(days.slice(0, 89).every(day => day.upSeconds === 86_400 && day.status === 'operational'))
  t.ok(days.at(-1)!.upSeconds > 0 && days.at(-1)!.unknownSeconds < 1)
  t.equal(component?.uptimePercent, 100)
})

t.test('Maintenance counts separately, and a component in maintenance shows it', async t => {
  const page = await scene()
  const monitor = await page.monitor('down', [
    [daysAgo(10), 'up'],
    [daysAgo(3, 1), 'down'],
    [daysAgo(3, 3), 'up'],
    [daysAgo(0), 'down'],
  ])
  await page.maintenance(monitor, 'Move', daysAgo(3, 0), daysAgo(3, 4))
  await page.maintenance(monitor, 'Move again', daysAgo(3, 2), daysAgo(3, 5))
  await page.component('Shop', monitor)
  const windowId = await page.maintenance(monitor, 'Backup', ago(60_000), ago(-60_000))
  await page.maintenance(monitor, 'Later', ago(-5 * DAY_MS), ago(-6 * DAY_MS))
  await page.maintenance(monitor, 'Far off', ago(-30 * DAY_MS), ago(-31 * DAY_MS))
  const view = await page.view()
  const [component] = listComponents(view)
  t.equal(component?.status, 'maintenance')
  t.match(findDay(component, toDate(daysAgo(3))), {
    status: 'operational',
    upSeconds: 19 * 3_600,
    downSeconds: 0,
    maintenanceSeconds: 5 * 3_600,
  })
  t.match(view.overall, { status: 'maintenance' })
  t.match(view.maintenance, [
    { name: 'Backup', isRunning: true, componentNames: ['Shop'] },
    { name: 'Later', isRunning: false },
  ])
  t.equal(view.maintenance.length, 2)
  t.ok(view.maintenance[0]!.id.startsWith(windowId))
})

t.test('Groups and components have one order, and a group has the status of its worst component', async t => {
  const page = await scene()
  await page.component('First')
  const { id: groupId } = await createGroup(
    db,
    page.projectId,
    page.pageId,
    { name: 'Europe', is_collapsed: true },
    now,
  )
  await page.component('Last')
  await page.component('Shop', await page.monitor('down'), groupId)
  await page.component('Mail', await page.monitor('up'), groupId)
  const { sections, overall } = await page.view()
  t.match(sections, [
    { kind: 'component', component: { name: 'First', days: null, uptimePercent: null } },
    {
      kind: 'group',
      group: { name: 'Europe', isCollapsed: true, status: 'outage', components: [{ name: 'Shop' }, { name: 'Mail' }] },
    },
    { kind: 'component', component: { name: 'Last' } },
  ])
  t.same(overall, { status: 'partial_outage', sentence: 'Some systems are down' })
})

t.test('A page shows incidents of its components with their public updates, and no others', async t => {
  const page = await scene()
  const [shown, hidden] = [await page.monitor('up'), await page.monitor('up')]
  const component = await page.component('Shop', shown)
  const open = await page.incident({ title: 'Open', monitors: [shown, hidden] })
  await page.update(open, 'We are looking.')
  await page.update(open, 'The password is hunter2.', true)
  await page.update(open, 'Found it.')
  await page.incident({ title: 'About nothing in particular' })
  await page.incident({ title: 'Of a monitor that is not shown', monitors: [hidden] })
  await page.incident({ title: 'By the system, about nothing', source: 'automatic' })
  await page.incident({ title: 'Yesterday', monitors: [shown], resolvedAt: ago(DAY_MS) })
  const long = await page.incident({ title: 'Long ago', monitors: [shown], resolvedAt: daysAgo(20, 12) })
  const other = await scene()
  await other.incident({ title: 'Of another project' })
  const view = await page.view()
  t.same(view.openIncidents.map(({ title }) => title).sort(), ['About nothing in particular', 'Open'])
  const openIncident = view.openIncidents.find(({ id }) => id === open)!
  t.same(
    openIncident.updates.map(({ message }) => message),
    ['Found it.', 'We are looking.'],
    'newest first, no internal one',
  )
  t.same([openIncident.componentIds, openIncident.componentNames], [[component], ['Shop']])
  t.same(
    view.pastIncidents.map(({ title }) => title),
    ['Yesterday'],
  )
  t.notMatch(JSON.stringify(view), /hunter2|not shown/)
  t.same(findDay(listComponents(view)[0], toDate(daysAgo(20)))?.incidents, [{ id: long, title: 'Long ago' }])
  t.match(view.overall, { status: 'degraded', sentence: 'There is a minor incident' })
})

t.test('Response times are daily medians from ClickHouse, only where the page shows them', async t => {
  const [open, discreet] = [await scene(), await scene({ show_response_times: false, show_uptime_percentage: false })]
  for (const page of [open, discreet]) {
    const monitor = await page.monitor('up', [[daysAgo(3), 'up']])
    await page.component('Shop', monitor)
    const hours: [Date, number, number][] = [
      [daysAgo(2, 1), 100, 50],
      [daysAgo(2, 2), 300, 10],
      [daysAgo(1, 5), 80, 5],
    ]
    await clickhouse.insert({
      table: 'latency_hourly (monitor_id, hour, region, count, p50)',
      values: hours.map(([hour, count, p50]) => ({
        monitor_id: monitor,
        hour: hour.getTime() / 1_000,
        region: '',
        count,
        p50,
      })),
      format: 'JSONEachRow',
    })
  }
  const [component] = listComponents(await open.view())
  t.equal(component?.responseTimes?.length, 90)
  t.same(component?.responseTimes?.slice(-4), [
    { date: toDate(daysAgo(3)), medianMs: null },
    { date: toDate(daysAgo(2)), medianMs: 10 },
    { date: toDate(daysAgo(1)), medianMs: 5 },
    { date: toDate(daysAgo(0)), medianMs: null },
  ])
  const [hidden] = listComponents(await discreet.view())
  t.match(hidden, { responseTimes: null, uptimePercent: null })
  t.equal(hidden?.days?.length, 90, 'bars are shown all the same')
})

t.test('An unpublished or unknown page is not found', async t => {
  const page = await scene()
  await execute(db, 'UPDATE status_pages SET is_published = false WHERE id = ?', [page.pageId])
  t.equal(await page.read(), null)
  const read = createReader()
  t.equal(await read({ slug: 'nowhere' }, null), null)
  t.equal(await read({ domain: 'status.acme.com' }, null), null)
})

t.test('A custom domain shows its page after verification', async t => {
  const page = await scene()
  const domain = `${page.slug}.example.com`
  const read = createReader()
  await execute(db, 'UPDATE status_pages SET custom_domain = ? WHERE id = ?', [domain, page.pageId])
  t.equal(await read({ domain }, null), null)
  t.equal((await page.view()).publicUrl, `http://picket.test/status/${page.slug}`)
  await execute(db, 'UPDATE status_pages SET custom_domain_verified_at = now() WHERE id = ?', [page.pageId])
  t.equal((await read({ domain }, null))?.view.publicUrl, `https://${domain}`)
})

t.test('The version of a page changes exactly when its content changes', async t => {
  const page = await scene()
  const monitor = await page.monitor('up', [[daysAgo(1), 'up']])
  await page.component('Shop', monitor)
  const elsewhere = await scene()
  const incident = await page.incident({ title: 'Open' })
  const changes: [string, boolean, () => Promise<unknown>][] = [
    ['nothing', false, async () => {}],
    ['another project', false, () => elsewhere.incident({ title: 'Other' })],
    ['a monitor that is not shown', false, () => page.monitor('down')],
    ['the page', true, () => execute(db, `UPDATE status_pages SET name = 'Acme 2' WHERE id = ?`, [page.pageId])],
    ['a component', true, () => page.component('Mail')],
    ['a status', true, () => execute(db, `UPDATE monitors SET status = 'down' WHERE id = ?`, [monitor])],
    ['a pause', true, () => execute(db, 'UPDATE monitors SET is_paused = true WHERE id = ?', [monitor])],
    ['an update', true, () => page.update(incident, 'Found it.')],
    ['an incident', true, () => page.incident({ title: 'New', monitors: [monitor] })],
    [
      'its end',
      true,
      () => execute(db, `UPDATE incidents SET status = 'resolved', resolved_at = ? WHERE id = ?`, [now, incident]),
    ],
    ['its deletion', true, () => execute(db, 'DELETE FROM incidents WHERE id = ?', [incident])],
    ['maintenance', true, () => page.maintenance(monitor, 'Move', ago(1_000), ago(-60_000))],
    ['a deleted monitor', true, () => execute(db, 'UPDATE monitors SET deleted_at = now() WHERE id = ?', [monitor])],
  ]
  let known = await page.read()
  for (const [what, isOther, change] of changes) {
    await change()
    const next = await page.read(known)
    t.equal(next !== known, isOther, what)
    known = next
  }
})

t.test('An unchanged page is read again after 60 s, also when the wall clock was set back', async t => {
  const { slug } = await scene()
  let [wallMs, passedMs] = [now.getTime(), 0]
  const read = createReader(clickhouse, { now: () => new Date(wallMs), monotonicMs: () => passedMs })
  const first = await read({ slug }, null)
  wallMs -= 3_600_000
  passedMs = 59_999
  t.equal(await read({ slug }, first), first)
  passedMs = 60_000
  t.not(await read({ slug }, first), first)
})

t.test('Without ClickHouse a page shows everything else, and its last response times', async t => {
  const page = await scene()
  const monitor = await page.monitor('up', [[daysAgo(3), 'up']])
  await page.component('Shop', monitor)
  const away = createClickhouse('http://127.0.0.1:1/nowhere')
  t.teardown(() => away.close())
  const read = createReader(away)
  const [component] = listComponents((await read({ slug: page.slug }, null))!.view)
  t.match(component, { status: 'operational', uptimePercent: 100, responseTimes: null })

  const byMonitor = new Map([[monitor, new Map([[toDate(daysAgo(1)), 12]])]])
  const before = (await page.read())!
  const known = {
    ...before,
    fingerprint: 'another',
    medians: { byMonitor, ids: new Set([monitor]), loadedMs: Number.NEGATIVE_INFINITY },
  }
  const [later] = listComponents((await read({ slug: page.slug }, known))!.view)
  t.match(later?.responseTimes?.at(-2), { medianMs: 12 })
})

t.test('A page says so when no process has read the results of a component for two minutes', async t => {
  const page = await scene()
  const [checked, heartbeat] = [await page.monitor('up', []), await page.monitor('up', [])]
  await page.component('Shop', checked)
  await page.component('Backup', heartbeat)
  await execute(db, 'UPDATE monitors SET partition = 3 WHERE id = ?', [checked])
  await execute(db, "UPDATE monitors SET partition = 4, type = 'heartbeat' WHERE id = ?", [heartbeat])
  const setPartition = (id: number, assignments: string) =>
    execute(db, `UPDATE partitions SET ${assignments} WHERE id = ?`, [id])
  const [released, silent] = [
    `owner = NULL, lease_until = NULL`,
    `owner = 'a', lease_until = now() - interval '3 minutes'`,
  ]
  let known = await page.read()
  t.equal(known!.view.staleSince, undefined, 'before the first verdict')
  await setPartition(4, `epoch = 1, updated_at = now() - interval '1 hour', ${released}`)
  t.equal(await page.read(known), known, 'a heartbeat does not need a reader')
  for (const [why, assignments, isStale] of [
    ['a process reads them', `epoch = 1, owner = 'a', lease_until = now() + interval '7 s'`, false],
    ['the process lost NATS', silent, true],
    ['another process takes over', `epoch = 2, owner = 'b', lease_until = now() + interval '7 s'`, false],
    ['all processes were stopped a minute ago', `updated_at = now() - interval '1 minute', ${released}`, false],
    ['all processes were stopped an hour ago', `updated_at = now() - interval '1 hour', ${released}`, true],
  ] as const) {
    await setPartition(3, assignments)
    known = await page.read(known)
    t.equal(known!.view.staleSince !== undefined, isStale, why)
  }
  t.ok(Math.abs(Date.now() - 3_600_000 - Date.parse(known!.view.staleSince!)) < 600_000, 'since they were stopped')
  await execute(db, 'UPDATE monitors SET is_paused = true WHERE id = ?', [checked])
  t.equal((await page.read(known))!.view.staleSince, undefined, 'a paused monitor has no results')
})
