import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { monitorRoutes } from '../../control-plane/monitoring/monitors/routes.ts'
import { componentRoutes } from '../../control-plane/pages/admin/components/component-routes.ts'
import { groupRoutes } from '../../control-plane/pages/admin/components/group-routes.ts'
import { statusPageRoutes } from '../../control-plane/pages/admin/page-routes.ts'
import { monitorLifecycleRoutes } from '../../control-plane/verdict/core/monitor-lifecycle-routes.ts'
import { type Call, createResourceApi } from '../support/resource-api.ts'
import { insertComponents } from '../support/status-pages.ts'
import { NO_HISTORY } from '../support/unwatched.ts'
import { runWhileLocked } from '../support/while-held.ts'

const api = await createResourceApi(t, (app, handles) => {
  statusPageRoutes(app, handles)
  componentRoutes(app, handles)
  groupRoutes(app, handles)
  monitorRoutes(app, { ...handles, readMonitoringState: NO_HISTORY })
  monitorLifecycleRoutes(app, { ...handles, watching: NO_HISTORY })
})
const UNKNOWN = '0190a0a0-0000-7000-8000-000000000000'
let slugs = 0
const newSlug = () => `acme-${++slugs}`

const createRecord = async (call: Call, route: string, body: object): Promise<string> => {
  const answer = await call(route, body)
  if (answer.status !== 201) throw new Error(`${route} answered ${answer.status}: ${answer.body.error?.message}`)
  return answer.body.data.id
}
const addPage = (call: Call) => createRecord(call, 'POST /status-pages', { name: 'Acme', slug: newSlug() })
const addMonitor = (call: Call) => createRecord(call, 'POST /monitors', { name: 'Shop', type: 'http' })

t.test('POST /status-pages 201 with the defaults; the page can be read, listed, changed and deleted', async t => {
  const { call } = await api.account()
  const slug = newSlug()
  const created = await call('POST /status-pages', { name: 'Acme', slug })
  t.equal(created.status, 201)
  const { id, created_at, updated_at, ...rest } = created.body.data
  t.same(rest, {
    name: 'Acme',
    slug,
    template: 'minimal',
    brand_color: '#2563eb',
    logo_url: null,
    favicon_url: null,
    logo_problem: null,
    favicon_problem: null,
    custom_css: null,
    seo_title: null,
    seo_description: null,
    is_published: false,
    show_response_times: true,
    show_uptime_percentage: true,
    custom_domain: null,
    custom_domain_verified_at: null,
    component_count: 0,
    public_url: `http://picket.test/status/${slug}`,
  })
  t.equal(created_at, updated_at)
  t.same((await call(`GET /status-pages/${id}`)).body, created.body)

  const second = await addPage(call)
  const listed = await call('GET /status-pages?per_page=1')
  t.match(listed.body, { data: [{ id: second }], meta: { total: 2, total_pages: 2 } }, 'newest first')

  t.same((await call(`DELETE /status-pages/${id}`)).body, { data: { id, deleted: true } })
  t.equal((await call(`GET /status-pages/${id}`)).status, 404)
  t.equal((await call(`DELETE /status-pages/${id}`)).status, 404)
})

t.test('PUT /status-pages/{id} 200 accepts every field and keeps omitted ones', async t => {
  const { call } = await api.account()
  const id = await addPage(call)
  const sent = {
    name: 'Acme Cloud',
    brand_color: '#00ff7F',
    custom_css: '.page { letter-spacing: 0.01em }',
    template: 'terminal',
    seo_title: 'Is Acme up?',
    seo_description: 'How Acme is doing',
    is_published: true,
    show_response_times: false,
    show_uptime_percentage: false,
  }
  const changed = await call(`PUT /status-pages/${id}`, sent)
  t.equal(changed.status, 200)
  t.match(changed.body.data, sent)
  const cleared = { custom_css: null, seo_title: null, seo_description: null, logo_url: null, favicon_url: null }
  const { body } = await call(`PUT /status-pages/${id}`, cleared)
  t.match(body.data, { ...sent, ...cleared })
  t.match((await call(`GET /status-pages/${id}`)).body, body)
})

t.test('An invalid status page is refused with 400 and the path of the field', async t => {
  const { call } = await api.account()
  const id = await addPage(call)
  const creates: [object, string][] = [
    [{}, 'name'],
    [{ name: 'Acme' }, 'slug'],
    [{ name: '', slug: 'a' }, 'name'],
    [{ name: 'x'.repeat(101), slug: 'a' }, 'name'],
    [{ name: 'Acme', slug: 'Acme' }, 'slug'],
    [{ name: 'Acme', slug: 'a_b' }, 'slug'],
    [{ name: 'Acme', slug: 'x'.repeat(51) }, 'slug'],
    [{ name: 'Acme', slug: 'a', template: 'loud' }, 'template'],
    [{ name: 'Acme', slug: 'a', brand_color: 'red' }, 'brand_color'],
    [{ name: 'Acme', slug: 'a', is_published: 'yes' }, 'is_published'],
    [{ name: 'Acme', slug: 'a', custom_css: '' }, 'custom_css'],
    [{ name: 'Acme', slug: 'a', components: [{ monitor_id: UNKNOWN }] }, 'components[0].name'],
    [{ name: 'Acme', slug: 'a', components: [{ name: 'A', group_id: UNKNOWN }] }, 'components[0].group_id'],
    [{ name: 'Acme', slug: 'a', components: Array(501).fill({ name: 'A' }) }, 'components'],
    [
      { name: 'Acme', slug: 'a', components: [{ name: 'A' }, { name: 'B', monitor_id: UNKNOWN, status: 'outage' }] },
      'components[1].status',
    ],
  ]
  for (const [body, path] of creates) {
    const answer = await call('POST /status-pages', body)
    t.match(answer, { status: 400, body: { error: { code: 'validation_error', details: [{ path }] } } }, path)
  }
  const updates: [object, string][] = [
    [{ slug: 'other' }, 'slug'],
    [{ custom_domain: 'status.example.com' }, 'custom_domain'],
    [{ name: null }, 'name'],
    [{ brand_color: '#12345' }, 'brand_color'],
    [{ custom_css: '@import "https://evil.example/x.css";' }, 'custom_css'],
    [{ custom_css: 'a { background: url(https://evil.example/x.png) }' }, 'custom_css'],
    [{ logo_url: 'http://example.com/logo.png' }, 'logo_url'],
    [{ logo_url: 'javascript:alert(1)' }, 'logo_url'],
    [{ favicon_url: 'https://127.0.0.1/logo.png' }, 'favicon_url'],
    [{ favicon_url: 'https://user:word@example.com/logo.png' }, 'favicon_url'],
    [{ is_published: 'yes' }, 'is_published'],
  ]
  for (const [body, path] of updates) {
    const answer = await call(`PUT /status-pages/${id}`, body)
    t.match(answer, { status: 400, body: { error: { code: 'validation_error', details: [{ path }] } } }, path)
  }
  t.match((await call(`GET /status-pages/${id}`)).body.data, { name: 'Acme', custom_css: null, logo_url: null })
})

t.test('POST /status-pages creates a published page with its components, or nothing', async t => {
  const [mine, other] = [await api.account(), await api.account()]
  const monitor = await addMonitor(mine.call)
  const components = [
    { name: 'Shop', monitor_id: monitor.toUpperCase() },
    { name: 'Mail', description: 'Incoming', status: 'degraded' },
    { name: 'Shop again', monitor_id: monitor },
  ]
  const body = { name: 'Acme', slug: newSlug(), is_published: true, components }
  for (const monitor_id of [UNKNOWN, await addMonitor(other.call), 'shop'])
    t.match(
      await mine.call('POST /status-pages', { ...body, components: [...components, { name: 'A', monitor_id }] }),
      {
        status: 404,
        body: { error: { message: `monitor not found: "${monitor_id}"` } },
      },
    )
  t.equal((await mine.call('GET /status-pages')).body.meta.total, 0, 'a refused page is not there')

  const created = await mine.call('POST /status-pages', body)
  t.match(created, { status: 201, body: { data: { is_published: true, component_count: 3 } } })
  const { id } = created.body.data
  t.same((await mine.call(`GET /status-pages/${id}`)).body, created.body)
  t.match((await mine.call(`GET /status-pages/${id}/components`)).body.data, [
    { name: 'Shop', monitor_id: monitor, description: null, status: 'unknown', group_id: null },
    { name: 'Mail', monitor_id: null, description: 'Incoming', status: 'degraded' },
    { name: 'Shop again', monitor_id: monitor },
  ])
})

t.test(
  'A new page that waits for a monitor, which an import holds, delays no other new page of the organization',
  async t => {
    const { call } = await api.account()
    const monitor_id = await addMonitor(call)
    let meanwhile = 0
    await runWhileLocked(
      api.db,
      tx => execute(tx, 'SELECT FROM monitors WHERE id = ? FOR UPDATE', [monitor_id]),
      () => call('POST /status-pages', { name: 'Acme', slug: newSlug(), components: [{ name: 'Shop', monitor_id }] }),
      async () => {
        meanwhile = (await call('POST /status-pages', { name: 'Acme', slug: newSlug() })).status
      },
    )
    t.equal(meanwhile, 201)
  },
)

t.test('POST /status-pages 409 for a slug in use by any project, also with concurrent requests', async t => {
  const [one, two] = [await api.account(), await api.account()]
  const slug = newSlug()
  const asked = await Promise.all(
    [one, two, one, two].map(({ call }) => call('POST /status-pages', { name: 'A', slug })),
  )
  t.same(asked.map(({ status }) => status).sort(), [201, 409, 409, 409])
  t.match(asked.find(({ status }) => status === 409)!.body.error, { code: 'conflict', message: /already in use/ })
})

t.test('POST /status-pages 402 at the limit of the plan, also with concurrent requests', async t => {
  const { call } = await api.account('free')
  const asked = await Promise.all([1, 2, 3].map(() => call('POST /status-pages', { name: 'A', slug: newSlug() })))
  t.same(asked.map(({ status }) => status).sort(), [201, 402, 402])
  const { error } = asked.find(({ status }) => status === 402)!.body
  t.match(error, { code: 'tier_limit_reached', message: 'the free plan includes 1 status page and 1 is in use' })
})

t.test('Components can be created, read, listed in order, changed and deleted', async t => {
  const { call } = await api.account()
  const page = await addPage(call)
  const monitor_id = await addMonitor(call)
  const path = `/status-pages/${page}/components`
  const created = await call(`POST ${path}`, { name: 'Shop', description: 'what customers see', monitor_id })
  t.equal(created.status, 201)
  const { id, created_at: _, updated_at: __, ...rest } = created.body.data
  t.same(rest, {
    status_page_id: page,
    name: 'Shop',
    description: 'what customers see',
    monitor_id,
    group_id: null,
    display_order: 0,
    status: 'unknown',
  })
  const byHand = await call(`POST ${path}`, { name: 'Support', status: 'degraded' })
  t.match(byHand.body.data, { monitor_id: null, display_order: 1, status: 'degraded' })
  t.match((await call(`POST ${path}`, { name: 'Phone' })).body.data, { status: 'operational', display_order: 2 })
  const first = await call(`POST ${path}`, { name: 'First', display_order: 0 })
  const listed = await call(`GET ${path}`)
  t.same(
    listed.body.data.map((one: { name: string }) => one.name),
    ['Shop', 'First', 'Support', 'Phone'],
  )
  t.match(listed.body.meta, { total: 4 })
  t.same((await call(`GET ${path}/${id}`)).body, created.body)

  const changed = await call(`PUT ${path}/${id}`, {
    name: 'Store',
    description: null,
    monitor_id: null,
    status: 'outage',
  })
  t.match(changed.body.data, {
    name: 'Store',
    description: null,
    monitor_id: null,
    status: 'outage',
    display_order: 0,
  })
  const { id: firstId } = first.body.data
  t.same((await call(`DELETE ${path}/${firstId}`)).body, { data: { id: firstId, deleted: true } })
  t.equal((await call(`DELETE ${path}/${firstId}`)).status, 404)
})

t.test('A page has at most 500 components and 100 groups', async t => {
  const { call } = await api.account()
  const page = await addPage(call)
  await insertComponents(api.db, page, 499)
  for (let i = 1; i < 100; i++) await createRecord(call, `POST /status-pages/${page}/groups`, { name: `Group ${i}` })
  for (const [kind, message] of [
    ['components', /at most 500/],
    ['groups', /at most 100/],
  ] as const) {
    t.equal((await call(`POST /status-pages/${page}/${kind}`, { name: 'The last one' })).status, 201)
    const refused = await call(`POST /status-pages/${page}/${kind}`, { name: 'Too many' })
    t.match(refused, { status: 409, body: { error: { code: 'conflict', message } } })
  }
  const all = await call(`GET /status-pages/${page}/components`)
  t.match(all.body, { data: { length: 500 }, meta: { page: 1, total: 500, total_pages: 1 } })
  const part = await call(`GET /status-pages/${page}/components?per_page=100&page=5`)
  t.same(part.body.data, all.body.data.slice(400))
  const ids = all.body.data.map(({ id }: { id: string }) => id).reverse()
  const reversed = await call(`PUT /status-pages/${page}/components/reorder`, { component_ids: ids })
  t.same(
    reversed.body.data.map(({ id }: { id: string }) => id),
    ids,
    'all of them are ordered by one request',
  )
})

t.test('A component has the status of its monitor, which cannot be set manually', async t => {
  const { call } = await api.account()
  const path = `/status-pages/${await addPage(call)}/components`
  const monitor_id = await addMonitor(call)
  const id = await createRecord(call, `POST ${path}`, { name: 'Shop', monitor_id })
  for (const [status, shown] of [
    ['up', 'operational'],
    ['degraded', 'degraded'],
    ['down', 'outage'],
  ]) {
    await api.db.raw('UPDATE monitors SET status = ? WHERE id = ?', [status!, monitor_id])
    t.equal((await call(`GET ${path}/${id}`)).body.data.status, shown)
  }
  await call(`POST /monitors/${monitor_id}/pause`)
  t.equal((await call(`GET ${path}/${id}`)).body.data.status, 'unknown')
  const refused = await call(`POST ${path}`, { name: 'Shop', monitor_id, status: 'operational' })
  t.match(refused, { status: 400, body: { error: { details: [{ path: 'status' }] } } })
  t.equal((await call(`PUT ${path}/${id}`, { status: 'operational' })).status, 400)

  await call(`DELETE /monitors/${monitor_id}`)
  const orphan = (await call(`GET ${path}/${id}`)).body.data
  t.match(orphan, { monitor_id: null, status: 'unknown' }, 'the monitor is deleted')
})

t.test('PUT /status-pages/{id}/components/reorder 200 exchanges the positions of components', async t => {
  const { call } = await api.account()
  const page = await addPage(call)
  const path = `/status-pages/${page}/components`
  const ids: string[] = []
  for (const name of ['a', 'b', 'c', 'd']) ids.push(await createRecord(call, `POST ${path}`, { name }))
  const [a, b, c, d] = ids as [string, string, string, string]
  const answer = await call(`PUT ${path}/reorder`, { component_ids: [d, c, a] })
  t.equal(answer.status, 200)
  t.same(
    answer.body.data.map(({ id }: { id: string }) => id),
    [d, b, c, a],
    'the one that is not named stays',
  )
  t.same((await call(`GET ${path}`)).body.data, answer.body.data)
  t.equal((await call(`PUT ${path}/reorder`, { component_ids: [a, UNKNOWN] })).status, 404)
  t.equal((await call(`PUT ${path}/reorder`, { component_ids: [] })).status, 400)
})

t.test(
  'PUT /status-pages/{id}/components/reorder 200 exchanges a component and a group; the page counts its components',
  async t => {
    const { call } = await api.account()
    const page = await addPage(call)
    const [path, groups] = [`/status-pages/${page}/components`, `/status-pages/${page}/groups`]
    const first = await createRecord(call, `POST ${path}`, { name: 'first' })
    const group = await createRecord(call, `POST ${groups}`, { name: 'group' })
    t.equal((await call(`PUT ${path}/reorder`, { component_ids: [group, first] })).status, 200)
    t.match((await call(`GET ${groups}`)).body.data, [{ id: group, display_order: 0 }])
    t.match((await call(`GET ${path}`)).body.data, [{ id: first, display_order: 1 }])
    t.equal((await call(`GET /status-pages/${page}`)).body.data.component_count, 1)
  },
)

t.test('Groups can be created, listed, changed and deleted, and their components stay', async t => {
  const { call } = await api.account()
  const page = await addPage(call)
  const path = `/status-pages/${page}/groups`
  const created = await call(`POST ${path}`, { name: 'Europe' })
  t.equal(created.status, 201)
  const { id } = created.body.data
  t.match(created.body.data, {
    status_page_id: page,
    name: 'Europe',
    description: null,
    is_collapsed: false,
    display_order: 0,
  })
  const component = await createRecord(call, `POST /status-pages/${page}/components`, { name: 'Shop', group_id: id })
  const sent = { name: 'EU', description: 'all of it', display_order: 7, is_collapsed: true }
  t.match((await call(`PUT ${path}/${id}`, sent)).body.data, sent)
  t.match(await call(`PUT ${path}/${id}`, { color: 'red' }), {
    status: 400,
    body: { error: { details: [{ path: 'color' }] } },
  })
  t.match((await call(`GET ${path}`)).body, { data: [{ id, ...sent }], meta: { total: 1 } })
  t.match((await call(`GET ${path}/${id}`)).body.data, sent)
  t.same((await call(`DELETE ${path}/${id}`)).body, { data: { id, deleted: true } })
  const left = await call(`GET /status-pages/${page}/components/${component}`)
  t.match(left.body.data, { name: 'Shop', group_id: null })
  t.equal((await call(`PUT ${path}/${id}`, sent)).status, 404)
})

t.test('A page, component, group or monitor of another tenant and a malformed id are 404 in path and body', async t => {
  const [mine, theirs] = [await api.account(), await api.account()]
  const { call } = mine
  const [page, other] = [await addPage(call), await addPage(call)]
  const theirPage = await addPage(theirs.call)
  const theirMonitor = await addMonitor(theirs.call)
  const theirGroup = await createRecord(theirs.call, `POST /status-pages/${theirPage}/groups`, { name: 'G' })
  const otherGroup = await createRecord(call, `POST /status-pages/${other}/groups`, { name: 'G' })
  const otherComponent = await createRecord(call, `POST /status-pages/${other}/components`, { name: 'C' })
  for (const id of [theirPage, UNKNOWN, 'nonsense']) {
    t.equal((await call(`GET /status-pages/${id}`)).status, 404)
    t.equal((await call(`PUT /status-pages/${id}`, { name: 'x' })).status, 404)
    t.equal((await call(`DELETE /status-pages/${id}`)).status, 404)
    t.equal((await call(`GET /status-pages/${id}/components`)).status, 404)
    t.equal((await call(`POST /status-pages/${id}/components`, { name: 'x' })).status, 404)
    t.equal((await call(`POST /status-pages/${id}/groups`, { name: 'x' })).status, 404)
  }
  const path = `/status-pages/${page}/components`
  for (const monitor_id of [theirMonitor, UNKNOWN, 'nonsense']) {
    t.equal((await call(`POST ${path}`, { name: 'x', monitor_id })).status, 404)
  }
  for (const group_id of [theirGroup, otherGroup, UNKNOWN, 'nonsense']) {
    t.equal((await call(`POST ${path}`, { name: 'x', group_id })).status, 404)
  }
  t.equal((await call(`PUT ${path}/${otherComponent}`, { name: 'x' })).status, 404, 'of another page')
  t.equal((await call(`PUT ${path}/reorder`, { component_ids: [otherComponent] })).status, 404)
  t.equal((await call(`PUT /status-pages/${page}/groups/${otherGroup}`, { name: 'x' })).status, 404)
  t.same((await call(`GET ${path}`)).body.data, [], 'nothing was left behind')
})
