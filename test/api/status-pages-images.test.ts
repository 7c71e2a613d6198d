import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { query } from '../../control-plane/platform/postgres.ts'
import { statusPageRoutes } from '../../control-plane/status-pages/routes.ts'
import { startApi } from '../support/api-server.ts'
import { createAuthority } from '../support/certificates.ts'
import { PIXEL } from '../support/records.ts'
import { type Call, createResourceApi } from '../support/resource-api.ts'

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><path d="M0 0"/></svg>'

const authority = createAuthority(t)
const api = await createResourceApi(t, statusPageRoutes, { egressAllow: ['127.0.0.0/8'], egressTrust: [authority.ca] })

/** A site with images, by path: what it answers and how often it was asked. */
async function startSite(answers: Record<string, { status?: number; body?: string | Buffer; location?: string }>) {
  const asked: string[] = []
  const server = createServer(authority.issue('127.0.0.1', -1, 1), (request, response) => {
    asked.push(request.url ?? '')
    const { status = 200, body = '', location } = answers[request.url ?? ''] ?? { status: 404 }
    response.writeHead(status, location ? { location } : {}).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  return { origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

let slugs = 0
const addPage = async (call: Call): Promise<string> =>
  (await call('POST /status-pages', { name: 'Acme', slug: `acme-${++slugs}` })).body.data.id

t.test('PUT /status-pages/{id} 200 fetches logo_url and favicon_url once and keeps what they led to', async t => {
  const { call } = await api.account()
  const id = await addPage(call)
  const site = await startSite({
    '/logo.png': { body: PIXEL },
    '/icon': { status: 302, location: '/icon.svg' },
    '/icon.svg': { body: SVG },
  })
  const sent = { logo_url: `${site.origin}/logo.png`, favicon_url: `${site.origin}/icon` }
  const changed = await call(`PUT /status-pages/${id}`, sent)
  t.match(changed, { status: 200, body: { data: sent } })
  t.same(site.asked, ['/logo.png', '/icon', '/icon.svg'])
  const rows = await query<{ kind: string; contentType: string; text: string }>(
    api.db,
    `SELECT kind, content_type AS "contentType", encode(bytes, 'escape') AS text FROM status_page_images
     WHERE page_id = ? ORDER BY kind DESC`,
    [id],
  )
  t.match(rows, [
    { kind: 'logo', contentType: 'image/png' },
    { kind: 'favicon', contentType: 'image/svg+xml', text: /^<svg [^>]*><path d="M0 0"><\/path><\/svg>$/ },
  ])
  t.match((await call(`PUT /status-pages/${id}`, { ...sent, name: 'Acme 2' })).body.data, sent)
  t.equal(site.asked.length, 3, 'what a read answered changes nothing')
  t.match((await call(`PUT /status-pages/${id}`, { logo_url: null })).body.data, { logo_url: null })
})

t.test('PUT /status-pages/{id} 400 says why an image cannot be had, and keeps the one before', async t => {
  const { call } = await api.account()
  const id = await addPage(call)
  const site = await startSite({
    '/logo.png': { body: PIXEL },
    '/page': { body: '<!doctype html><p>Hello' },
    '/empty': {},
    '/large': { body: Buffer.alloc(1024 * 1024 + 1, 0x89) },
    '/broken': { status: 500 },
    '/inwards': { status: 302, location: 'http://10.0.0.1/logo.png' },
  })
  await call(`PUT /status-pages/${id}`, { logo_url: `${site.origin}/logo.png` })
  const rows: [string, RegExp][] = [
    [`${site.origin}/page`, /leads to something that is no SVG/],
    [`${site.origin}/empty`, /leads to something that is empty/],
    [`${site.origin}/large`, /more than 1 MiB/],
    [`${site.origin}/broken`, /the server answered 500/],
    [`${site.origin}/inwards`, /cannot be fetched/],
    ['https://127.0.0.1:1/logo.png', /cannot be fetched/],
    ['https://10.0.0.1/logo.png', /cannot be fetched/],
    [`${site.origin.replace('https', 'http')}/logo.png`, /must be an https address/],
    ['//example.com/logo.png', /must be an https address/],
    ['data:image/png;base64,AAAA', /must be an https address/],
  ]
  for (const [logo_url, message] of rows) {
    const answer = await call(`PUT /status-pages/${id}`, { name: 'Changed', logo_url })
    t.match(answer, { status: 400, body: { error: { details: [{ path: 'logo_url', message }] } } }, logo_url)
  }
  t.match((await call(`GET /status-pages/${id}`)).body.data, { name: 'Acme', logo_url: `${site.origin}/logo.png` })
})

t.test('an upload is checked by its bytes, and served from the page’s own origin', async t => {
  const server = await startApi(t)
  const { key } = await server.tenant()
  const { data } = (await server.call('POST', '/status-pages', { key, body: { name: 'Acme', slug: 'acme' } })).body
  const upload = (kind: string, body: unknown, type: string) =>
    server.call('PUT', `/status-pages/${data.id}/${kind}`, { key, body, headers: { 'content-type': type } })

  const rows: [unknown, string, number][] = [
    [PIXEL, 'image/jpeg', 400],
    [Buffer.from('GIF89a'), 'image/png', 400],
    [Buffer.alloc(0), 'image/png', 400],
    [SVG.replace('</svg>', ''), 'image/svg+xml', 400],
    [Buffer.alloc(1024 * 1024 + 1), 'image/png', 413],
    [PIXEL, 'image/gif', 415],
    [{ logo: 'x' }, 'application/json', 415],
    [PIXEL, 'application/octet-stream', 415],
  ]
  for (const [body, type, status] of rows) {
    const answer = await upload('logo', body, type)
    t.match(answer, { status, body: { error: { status } } }, type)
  }
  t.equal((await upload('logo', PIXEL, 'image/png')).status, 200)
  const uploaded = await upload('favicon', SVG, 'image/svg+xml; charset=utf-8')
  const { logo_url, favicon_url } = uploaded.body.data
  await server.call('PUT', `/status-pages/${data.id}`, { key, body: { is_published: true, logo_url, favicon_url } })

  const get = (url: string) => fetch(url.replace(/^http:\/\/localhost:\d+/, server.origin))
  const logo = await get(logo_url)
  t.match(Object.fromEntries(logo.headers), {
    'content-type': 'image/png',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'x-content-type-options': 'nosniff',
    'cache-control': /^public, max-age=31536000/,
  })
  t.ok(Buffer.from(await logo.arrayBuffer()).equals(PIXEL))
  const favicon = await get(favicon_url)
  t.equal(favicon.headers.get('content-type'), 'image/svg+xml')
  t.notMatch(await favicon.text(), /script|alert/)
  const unnamed = await get(logo_url.replace(/\?.*/, '?v=another'))
  t.match(unnamed.headers.get('cache-control'), /^public, max-age=60,/)
})
