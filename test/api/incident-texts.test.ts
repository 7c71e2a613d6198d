import t from 'tap'
import { startApi } from '../support/api-server.ts'
import { createPerson } from '../support/person.ts'
import { waitFor } from '../support/wait.ts'

const api = await startApi(t, { RATE_LIMIT_PER_MINUTE: '1000000' })
const owner = await createPerson(api, 'owner@example.com')
const stranger = await createPerson(api, 'stranger@example.com')
const call = (method: string, path: string, body?: unknown, person = owner) =>
  api.call(method, path, { key: person.key, body })
const create = async (path: string, body: object) => (await call('POST', path, body)).body.data
const nowhere = '01900000-0000-7000-8000-000000000000'

t.test('POST /incident-templates 201 keeps a text, and GET lists templates by name', async t => {
  const body = {
    name: 'Provider',
    title: 'Provider outage',
    severity: 'major',
    status: 'identified',
    message: 'Known.',
  }
  const made = await call('POST', '/incident-templates', body)
  t.match(made, { status: 201, body: { data: body } })
  const short = await create('/incident-templates', { name: 'All is well', message: 'It works again.' })
  t.match(short, { title: null, severity: null, status: null })
  const { data, meta } = (await call('GET', '/incident-templates')).body
  t.same(
    data.map(({ name }: { name: string }) => name),
    ['All is well', 'Provider'],
  )
  t.equal(meta.total, 2)
  t.same((await call('GET', `/incident-templates/${short.id}`)).body.data, short)
})

t.test('PUT /incident-templates/{id} 200 changes the given fields, and DELETE removes the template', async t => {
  const { id } = await create('/incident-templates', { name: 'Network', title: 'Network', message: 'One.' })
  const changed = await call('PUT', `/incident-templates/${id}`, { title: null, message: 'Two.' })
  t.match(changed, { status: 200, body: { data: { name: 'Network', title: null, message: 'Two.' } } })
  t.equal((await call('DELETE', `/incident-templates/${id}`)).status, 200)
  t.equal((await call('GET', `/incident-templates/${id}`)).status, 404)
})

t.test('Incident templates 400, 404 and 409: bad values, another tenant, a name in use', async t => {
  const { id } = await create('/incident-templates', { name: 'Disk', message: 'Full.' })
  const long = { name: 'Long', message: 'x'.repeat(10_001) }
  t.match(await call('POST', '/incident-templates', long), { status: 400 })
  t.match((await call('PUT', `/incident-templates/${id}`, { severity: 'fatal' })).body.error.details, [
    { path: 'severity' },
  ])
  t.equal((await call('POST', '/incident-templates', { name: 'DISK', message: 'Again.' })).status, 409)
  const { id: other } = await create('/incident-templates', { name: 'Memory', message: 'Full.' })
  t.equal((await call('PUT', `/incident-templates/${other}`, { name: 'disk' })).status, 409)
  for (const [method, body] of [['GET'], ['PUT', { message: 'Mine.' }], ['DELETE']] as const) {
    t.equal((await call(method, `/incident-templates/${id}`, body, stranger)).status, 404, method)
    t.equal((await call(method, '/incident-templates/nothing', body)).status, 404, method)
  }
  t.same((await call('GET', '/incident-templates', undefined, stranger)).body.data, [])
})

t.test('POST /incident-templates 409 when the project has 100 templates', async t => {
  const other = await createPerson(api, 'many@example.com')
  const results: number[] = []
  for (let i = 0; i <= 100; i++) {
    results.push((await call('POST', '/incident-templates', { name: `Text ${i}`, message: 'x' }, other)).status)
  }
  t.same([results.filter(status => status === 201).length, results.at(-1)], [100, 409])
})

t.test('PUT /incidents/{id} 200 replaces the monitors of an incident and publishes no event', async t => {
  const [shop, blog] = await Promise.all(
    ['Shop', 'Blog'].map(name => create('/monitors', { name, type: 'http', url: 'https://example.com' })),
  )
  const { id } = await create('/incidents', { title: 'Slow', monitor_ids: [shop.id] })
  const changed = await call('PUT', `/incidents/${id}`, { monitor_ids: [blog.id] })
  t.match(changed, { status: 200, body: { data: { monitor_ids: [blog.id], status: 'investigating' } } })
  t.same((await call('GET', `/incidents?monitor_id=${shop.id}`)).body.data, [])
  t.equal((await call('GET', `/incidents/${id}/updates`)).body.meta.total, 0)
  t.equal((await call('PUT', `/incidents/${id}`, { monitor_ids: [nowhere] })).status, 404)
  const foreign = (await call('POST', '/monitors', { name: 'Theirs', type: 'http' }, stranger)).body.data
  t.equal((await call('PUT', `/incidents/${id}`, { monitor_ids: [foreign.id] })).status, 404)
  t.same((await call('GET', `/incidents/${id}`)).body.data.monitor_ids, [blog.id], 'nothing is changed')
  t.same((await call('PUT', `/incidents/${id}`, { monitor_ids: [] })).body.data.monitor_ids, [])
})

t.test('POST /incidents 201 with is_internal keeps the first update from visitors', async t => {
  const { id } = await create('/incidents', { title: 'Quiet', message: 'Only for us.', is_internal: true })
  const { data } = (await call('GET', `/incidents/${id}/updates`)).body
  t.match(data, [{ message: 'Only for us.', is_internal: true }])
})

t.test('A post-mortem is internal until it is published, and is on the status page and in its feed then', async t => {
  const page = await create('/status-pages', { name: 'Acme', slug: 'acme-texts' })
  await call('PUT', `/status-pages/${page.id}`, { is_published: true })
  const { id } = await create('/incidents', { title: 'Disk full', message: 'We are looking.' })
  const readPage = async (path = '') => await (await fetch(`${api.origin}/status/acme-texts${path}`)).text()
  /** A page may be a second old. */
  const shows = (text: string, isShown = true) =>
    waitFor(async () => (await readPage()).includes(text) === isShown, { label: `"${text}" on the page: ${isShown}` })
  const change = (body: object) => call('PUT', `/incidents/${id}`, body)

  t.match(await change({ is_postmortem_published: true }), {
    status: 409,
    body: { error: { message: /no post-mortem/ } },
  })
  const draft = await change({ postmortem: 'Logs filled the disk.' })
  t.match(draft.body.data, { postmortem: 'Logs filled the disk.', postmortem_published_at: null })
  t.match(await change({ is_postmortem_published: true }), { status: 409, body: { error: { message: /resolved/ } } })
  await change({ status: 'resolved' })
  await shows('Disk full')
  t.notMatch(await readPage(), /Logs filled the disk/)

  const { postmortem_published_at: at } = (await change({ is_postmortem_published: true })).body.data
  t.type(at, 'string')
  await shows('Logs filled the disk.')
  t.match(await readPage('/feed.atom'), /Logs filled the disk\./)
  const corrected = (await change({ postmortem: 'Old logs filled the disk.' })).body.data
  t.equal(corrected.postmortem_published_at, at, 'a correction stays published')
  await shows('Old logs filled the disk.')

  await change({ status: 'monitoring' })
  // an open incident shows no post-mortem
  await shows('Old logs', false)
  await change({ status: 'resolved' })
  await shows('Old logs filled the disk.')
  t.match((await change({ is_postmortem_published: false })).body.data, { postmortem_published_at: null })
  await shows('Old logs', false)
  t.match((await change({ postmortem: null })).body.data, { postmortem: null, postmortem_published_at: null })
})
