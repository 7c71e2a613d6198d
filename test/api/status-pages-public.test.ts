import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import { toPublicTitle } from '../../control-plane/pages/core/incident-names.ts'
import { listAffectedComponents } from '../../control-plane/pages/subscribers/notice-store.ts'
import { openAutomaticIncidents } from '../../control-plane/verdict/incidents/automatic-actions.ts'
import { insertIncident, insertIncidentMonitor } from '../support/aged.ts'
import { shareApi } from '../support/api-server.ts'
import { waitFor } from '../support/wait.ts'

const api = await shareApi()
const { key, projectId } = await api.tenant()

type Got = { status: number; headers: Record<string, string>; body: Buffer }

/** Sends a request like a proxy: with any Host, and without decoding the response. */
function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> {
  return new Promise((resolve, reject) => {
    request(`${api.origin}${path}`, { method, headers }, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('end', () => {
        resolve({ status: response.statusCode!, headers: response.headers as never, body: Buffer.concat(chunks) })
      })
    })
      .on('error', reject)
      .end()
  })
}

let slugs = 0
async function addPage(update: object = { is_published: true }) {
  const slug = `acme-${++slugs}`
  const { id } = (await api.call('POST', '/status-pages', { key, body: { name: 'Acme', slug } })).body.data
  const change = (body: object) => api.call('PUT', `/status-pages/${id}`, { key, body })
  await change(update)
  return { id, path: `/status/${slug}`, change }
}

t.test('A published page needs no key; an unpublished one is 404 and must not be cached', async t => {
  const { path, change } = await addPage({})
  const before = await get(path)
  t.equal(before.status, 404)
  t.equal(JSON.parse(before.body.toString()).error.code, 'not_found', 'programs get the usual error')
  const forBrowsers = await get(path, { accept: 'text/html,*/*' })
  t.equal(forBrowsers.status, 404)
  t.match(forBrowsers.headers, { 'content-type': /^text\/html/, 'cache-control': 'no-store' })
  t.match(forBrowsers.body.toString(), /Status page not found/)
  t.equal(before.headers['cache-control'], 'no-store')
  await change({ is_published: true })
  await waitFor(async () => (await get(path)).status === 200)
  const shown = await get(path)
  t.match(shown.headers, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': /^public, max-age=1,/,
    'content-security-policy': /default-src 'none'/,
    'x-content-type-options': 'nosniff',
    vary: /accept-encoding/i,
  })
  t.match(shown.body.toString(), /^<!doctype html>/i)
  t.match(shown.body.toString(), /The status is unknown/)
  t.match(await get(`${path}/`), { status: 308, headers: { location: path } }, 'a trailing slash is redirected')
  await change({ is_published: false })
  await waitFor(async () => (await get(path)).status === 404)
  for (const slug of ['nowhere', '%00', 'Acme', '..%2facme', 'x'.repeat(100), '%ff']) {
    t.equal((await get(`/status/${slug}`)).status, 404, slug)
  }
})

t.test('A page is compressed on request, has an ETag, and is rendered once', async t => {
  const { path } = await addPage()
  // the age of the page may change between two requests
  const [plain, br, gzip] = await waitFor(async () => {
    const three = [
      await get(path),
      await get(path, { 'accept-encoding': 'gzip, deflate, br' }),
      await get(path, { 'accept-encoding': 'gzip' }),
    ] as const
    return new Set(three.map(({ headers }) => headers.etag)).size === 1 ? three : null
  })
  t.same([br.headers['content-encoding'], gzip.headers['content-encoding']], ['br', 'gzip'])
  t.ok(brotliDecompressSync(br.body).equals(plain.body))
  t.ok(gunzipSync(gzip.body).equals(plain.body))
  const again = await waitFor(async () => {
    const { etag } = (await get(path)).headers
    const answer = await get(path, { 'if-none-match': etag! })
    return answer.status === 304 ? answer : null
  })
  t.equal(again.body.length, 0)
  const head = await get(path, {}, 'HEAD')
  t.match(head, { status: 200, headers: { 'content-length': /^\d{3,}$/ } })
  t.equal(head.body.length, 0)
})

t.test('A page shows components, incidents and their changes, and no internal updates', async t => {
  const { id, path } = await addPage()
  await api.call('POST', `/status-pages/${id}/components`, { key, body: { name: 'Checkout', status: 'degraded' } })
  const incident = { title: 'Payments are slow', message: 'We are looking into it.' }
  const { body } = await api.call('POST', '/incidents', { key, body: incident })
  const secret = { message: 'It is the database of Bob.', is_internal: true }
  await api.call('POST', `/incidents/${body.data.id}/updates`, { key, body: secret })
  const shown = await waitFor(async () => {
    const text = (await get(path)).body.toString()
    return text.includes('Payments are slow') && text
  })
  t.match(shown, /Checkout/)
  t.match(shown, /We are looking into it\./)
  for (const place of ['', '/feed.rss', '/feed.atom', '/api/v2/summary.json', '/api/v2/incidents.json']) {
    t.notMatch((await get(`${path}${place}`)).body.toString(), /Bob/, place)
  }
  await api.call('DELETE', `/incidents/${body.data.id}`, { key })
  await waitFor(async () => !(await get(path)).body.toString().includes('Payments are slow'))
})

t.test('A verified custom domain serves its page and all documents at the root', async t => {
  const { id, path } = await addPage()
  const host = 'status.acme.example'
  const ask = (place: string) => get(place, { host })
  t.equal((await get('/', { host: 'other.acme.example' })).status, 404, 'a domain without a page')
  await api.db.raw('UPDATE status_pages SET custom_domain = ? WHERE id = ?', [host, id])
  t.equal((await ask('/')).status, 404, 'not verified')
  await api.db.raw('UPDATE status_pages SET custom_domain_verified_at = now() WHERE id = ?', [id])
  // a missing page is cached for a second
  await waitFor(async () => (await ask('/')).status === 200)
  const shown = await ask('/')
  t.match(shown.body.toString(), `https://${host}`)
  for (const place of ['/feed.rss', '/feed.atom', '/badge.svg', '/widget.js', '/embed', '/api/v2/status.json']) {
    t.equal((await ask(place)).status, 200, place)
    t.equal((await get(`${path}${place}`)).status, 200, `${path}${place}`)
    t.equal((await get(place)).status, 404, `${place} at the host of the installation`)
  }
  t.match(await get('/'), { status: 303, headers: { location: '/sign-in?return_to=%2F' } }, 'the root is the dashboard')
  await api.call('PUT', `/status-pages/${id}`, { key, body: { is_published: false } })
  await waitFor(async () => (await ask('/')).status === 404)
})

t.test('Maintenance that is changed while it runs stays the same entry, with its first begin', async t => {
  const { id, path } = await addPage()
  const call = async (method: string, at: string, body: object) => (await api.call(method, at, { key, body })).body.data
  const monitors = await Promise.all(['One', 'Two'].map(name => call('POST', '/monitors', { name, type: 'http' })))
  for (const monitor of monitors)
    await call('POST', `/status-pages/${id}/components`, { name: monitor.name, monitor_id: monitor.id })
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
  const [one, two] = monitors.map(monitor => monitor.id)
  const sent = { title: 'Move', monitor_ids: [one], starts_at: inHours(1), ends_at: inHours(2) }
  const window = await call('POST', '/maintenance-windows', sent)
  const shown = async (endsAt: string, components: number) =>
    await waitFor(async () => {
      const { scheduled_maintenances: entries } = JSON.parse(String((await get(`${path}/api/v2/summary.json`)).body))
      const isShown = entries[0]?.scheduled_until === endsAt && entries[0].components.length === components
      return isShown ? entries : null
    })
  const change = (body: object) => call('PUT', `/maintenance-windows/${window.id}`, body)
  await change({ starts_at: inHours(-1) })
  const [running] = await shown(sent.ends_at, 1)
  t.match(running, { name: 'Move', status: 'in_progress' })
  for (const [changed, components] of [
    [{ ends_at: inHours(3) }, 1],
    [{ ends_at: inHours(4), monitor_ids: [one, two] }, 2],
  ] as const) {
    await change(changed)
    const entries = await shown(changed.ends_at, components)
    t.match(entries, [{ id: running.id, status: 'in_progress', scheduled_for: running.scheduled_for }])
    t.equal(entries.length, 1)
  }
})

t.test('Texts of a page are escaped, and its CSS stays inside the page', async t => {
  const attack = '</title></style><script>alert(1)</script>"onload="alert(2)'
  const { id, path } = await addPage({ is_published: true, seo_title: attack, seo_description: attack })
  await api.call('POST', `/status-pages/${id}/components`, { key, body: { name: attack, description: attack } })
  const html = await waitFor(async () => {
    const text = (await get(path)).body.toString()
    return text.includes('&lt;script') && text
  })
  t.notMatch(html, /<script>alert/)
  t.notMatch(html, /"onload="/)
})

t.test('A page, its feeds and its JSON name the component of an outage, and never the monitor', async t => {
  const { id, path } = await addPage()
  const { data: monitor } = (
    await api.call('POST', '/monitors', { key, body: { name: 'web-01.internal', type: 'http' } })
  ).body
  const component = { name: 'Checkout', monitor_id: monitor.id }
  await api.call('POST', `/status-pages/${id}/components`, { key, body: component })
  const incident = await insertIncident(api.db, projectId, 1, {
    title: 'web-01.internal is down',
    cause_monitor_id: monitor.id,
  })
  await insertIncidentMonitor(api.db, incident, monitor.id)
  const message = 'web-01.internal is up again after 3 minutes.'
  await api.db.raw('UPDATE incident_updates SET message = ? WHERE incident_id = ?', [message, incident])
  const shown = await waitFor(async () => {
    const text = (await get(path)).body.toString()
    return text.includes('Checkout is down') ? text : null
  })
  t.match(shown, 'Checkout is up again after 3 minutes.')
  for (const part of ['', '/feed.rss', '/feed.atom', '/api/v2/incidents.json', '/api/v2/summary.json']) {
    const { status, body } = await get(`${path}${part}`)
    t.equal(status, 200, part)
    t.notMatch(body.toString(), 'web-01', part)
  }
})

t.test('Nor do they after a person reopened the incident, and after the monitor has another name', async t => {
  const { id, path } = await addPage()
  const create = async (name: string) => {
    const { body } = await api.call('POST', '/monitors', { key, body: { name, type: 'http' } })
    return body.data.id as string
  }
  const [monitorId, other] = [await create('web-02.internal'), await create('web-03.internal')]
  await api.call('POST', `/status-pages/${id}/components`, { key, body: { name: 'Cart', monitor_id: monitorId } })
  const outage = { projectId, monitorId, monitorName: 'web-02.internal', startedAt: new Date() }
  const { incidents } = await api.db.transaction(tx => openAutomaticIncidents(tx, [outage], api.origin, new Date()))
  const incident = incidents[0]!.id
  const change = (body: object) => api.call('PUT', `/incidents/${incident}`, { key, body })
  const readAll = async () => {
    const parts = ['', '/feed.rss', '/feed.atom', '/api/v2/incidents.json', '/api/v2/summary.json']
    const texts = await Promise.all(parts.map(async part => (await get(`${path}${part}`)).body.toString()))
    const [{ cause } = { cause: null }] = await api.db.transaction(tx => listAffectedComponents(tx, id, [incident]))
    return [...texts, toPublicTitle('web-02.internal is down', cause)]
  }
  const isNamed = (name: string) => async () => (await readAll()).every(text => text.includes(`${name} is down`))

  await change({ status: 'resolved' })
  await change({ status: 'monitoring' })
  t.match((await api.call('GET', `/incidents/${incident}`, { key })).body.data, { status: 'monitoring' })
  await waitFor(isNamed('Cart'), { label: 'the name of the component' })
  await api.call('PUT', `/monitors/${monitorId}`, { key, body: { name: 'web-04.internal' } })
  await change({ severity: 'minor' })
  await waitFor(isNamed('Cart'), { label: 'the name of the component after the new name' })
  for (const text of await readAll()) t.notMatch(text, 'web-0')

  // the incident is now about another monitor only
  await api.call('POST', `/status-pages/${id}/components`, { key, body: { name: 'Search', monitor_id: other } })
  await change({ monitor_ids: [other] })
  await waitFor(isNamed('Search'), { label: 'the name of the other component' })
  for (const text of await readAll()) t.notMatch(text, 'web-0')
  await change({ title: 'The search is slow' })
  await waitFor(async () => (await get(path)).body.includes('The search is slow'), { label: 'the title of a person' })
})
