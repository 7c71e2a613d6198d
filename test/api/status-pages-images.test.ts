import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startImageWorker } from '../../control-plane/pages/admin/image-worker.ts'
import { statusPageRoutes } from '../../control-plane/pages/admin/page-routes.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { startApi } from '../support/api-server.ts'
import { createAuthority } from '../support/certificates.ts'
import { rawAsk } from '../support/raw-ask.ts'
import { PIXEL } from '../support/records.ts'
import { type Call, createResourceApi } from '../support/resource-api.ts'
import { waitFor } from '../support/wait.ts'

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><path d="M0 0"/></svg>'

const authority = createAuthority(t)
const api = await createResourceApi(t, statusPageRoutes, { egressAllow: ['127.0.0.0/8'], egressTrust: [authority.ca] })

/** A site with images by path: its responses and the number of requests. */
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

const metrics = createMetrics()
const worker = startImageWorker({ ...api, log: createLog('test', 'silent'), metrics })
t.teardown(() => worker.stop())

type Stored = {
  kind: string
  contentType: string | null
  text: string | null
  problem: string | null
  nextMs: number | null
}

/** The stored images of a page; `nextMs`: the time of the next fetch. */
const readImages = (id: string) =>
  query<Stored>(
    api.db,
    `SELECT kind, content_type AS "contentType", encode(bytes, 'escape') AS text, problem,
       extract(epoch FROM next_fetch_at)::float * 1000 AS "nextMs"
     FROM status_page_images WHERE page_id = ? ORDER BY kind DESC`,
    [id],
  )

/** The number of finished fetches. */
async function fetches(): Promise<number> {
  const { text } = await metrics.render()
  const counts = [...text.matchAll(/^picket_status_page_image_fetches_total\{.*\} (\d+)$/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}

/** Lets the worker fetch the images of a page now, and returns the page afterwards. */
async function fetchNow(call: Call, id: string) {
  const before = await fetches()
  const due = `UPDATE status_page_images SET next_fetch_at = now() - interval '1 hour'
    WHERE page_id = ? AND source_url IS NOT NULL`
  const count = await execute(api.db, due, [id])
  worker.wake()
  await waitFor(async () => (await fetches()) >= before + count)
  return (await call(`GET /status-pages/${id}`)).body.data
}

t.test(
  'PUT /status-pages/{id} 200 accepts an address immediately; the worker fetches and stores the image',
  async t => {
    const { call } = await api.account()
    const id = await addPage(call)
    const site = await startSite({
      '/logo.png': { body: PIXEL },
      '/icon': { status: 302, location: '/icon.svg' },
      '/icon.svg': { body: SVG },
    })
    const sent = { logo_url: `${site.origin}/logo.png`, favicon_url: `${site.origin}/icon` }
    const changed = await call(`PUT /status-pages/${id}`, sent)
    t.match(changed, { status: 200, body: { data: { ...sent, logo_problem: null, favicon_problem: null } } })
    t.match(await fetchNow(call, id), { ...sent, logo_problem: null, favicon_problem: null })
    t.same(new Set(site.asked), new Set(['/logo.png', '/icon', '/icon.svg']))
    t.match(await readImages(id), [
      { kind: 'logo', contentType: 'image/png' },
      { kind: 'favicon', contentType: 'image/svg+xml', text: /^<svg [^>]*><path d="M0 0"><\/path><\/svg>$/ },
    ])
    const count = site.asked.length
    t.match((await call(`PUT /status-pages/${id}`, { ...sent, name: 'Acme 2' })).body.data, sent)
    t.ok(
      (await readImages(id)).every(
        ({ nextMs }) => nextMs! - Date.now() > 80_000_000 && nextMs! - Date.now() < 90_000_000,
      ),
      'again in a day',
    )
    t.equal(site.asked.length, count, 'the address from a read changes nothing')
    t.match((await call(`PUT /status-pages/${id}`, { logo_url: null })).body.data, { logo_url: null })
    t.same(
      (await readImages(id)).map(({ kind }) => kind),
      ['favicon'],
    )
  },
)

t.test('An image that cannot be fetched shows its problem and is retried until it succeeds', async t => {
  const { call } = await api.account()
  const id = await addPage(call)
  const answers: Parameters<typeof startSite>[0] = { '/logo.png': { status: 503 } }
  const site = await startSite(answers)
  const url = `${site.origin}/logo.png`
  t.match(await call(`PUT /status-pages/${id}`, { logo_url: url }), {
    status: 200,
    body: { data: { logo_url: url } },
  })
  const [fromMs, toMs] = [
    [0, 60_000, 240_000],
    [30_000, 120_000, 480_000],
  ] as const
  for (let failures = 1; failures <= 3; failures++) {
    const beforeMs = Date.now()
    t.match(await fetchNow(call, id), { logo_url: url, logo_problem: 'cannot be fetched: the server answered 503' })
    const afterMs = Date.now()
    const { nextMs } = (await readImages(id))[0]!
    const what = `${nextMs! - afterMs} to ${nextMs! - beforeMs} ms after failure ${failures}`
    t.ok(nextMs! - beforeMs > fromMs[failures - 1]! && nextMs! - afterMs <= toMs[failures - 1]!, what)
  }
  answers['/logo.png'] = { body: PIXEL }
  t.match(await fetchNow(call, id), { logo_url: url, logo_problem: null })
  t.match(await readImages(id), [{ contentType: 'image/png' }])

  answers['/logo.png'] = { body: SVG }
  const before = (await call(`GET /status-pages/${id}`)).body.data.updated_at
  t.not((await fetchNow(call, id)).updated_at, before, 'visitors get the new image')
  t.match(await readImages(id), [{ contentType: 'image/svg+xml' }])
  const seen = (await call(`GET /status-pages/${id}`)).body.data.updated_at
  t.equal((await fetchNow(call, id)).updated_at, seen, 'the same image changes nothing')
})

t.test('logo_problem contains the reason of a failure, and the previous image stays', async t => {
  const { call } = await api.account()
  const id = await addPage(call)
  const site = await startSite({
    '/logo.png': { body: PIXEL },
    '/page': { body: '<!doctype html><p>Hello' },
    '/empty': {},
    '/large': { body: Buffer.alloc(1024 * 1024 + 1, 0x89) },
    '/inwards': { status: 302, location: 'http://10.0.0.1/logo.png' },
  })
  await call(`PUT /status-pages/${id}`, { logo_url: `${site.origin}/logo.png` })
  await fetchNow(call, id)
  const rows: [string, RegExp][] = [
    [`${site.origin}/page`, /^cannot be used: the file is not a valid SVG/],
    [`${site.origin}/empty`, /^cannot be used: the file is empty/],
    [`${site.origin}/large`, /larger than 1 MiB/],
    [`${site.origin}/gone`, /the server answered 404/],
    [`${site.origin}/inwards`, /^cannot be fetched/],
    ['https://127.0.0.1:1/logo.png', /^cannot be fetched/],
  ]
  for (const [logo_url, logo_problem] of rows) {
    t.equal((await call(`PUT /status-pages/${id}`, { logo_url })).status, 200)
    t.match(await fetchNow(call, id), { logo_url, logo_problem })
    t.match(await readImages(id), [{ contentType: 'image/png' }], 'still shown')
  }
})

t.test(
  'PUT /status-pages/{id} 400 for an image address that is not https or is refused by the egress guard',
  async t => {
    const { call } = await api.account()
    const id = await addPage(call)
    const rows: [string, RegExp][] = [
      ['https://10.0.0.1/logo.png', /cannot be fetched: .*10\.0\.0\.1/],
      ['http://example.com/logo.png', /must be an https URL/],
      ['https://user:secret@example.com/logo.png', /must not contain credentials/],
      ['//example.com/logo.png', /must be an https URL/],
      ['data:image/png;base64,AAAA', /must be an https URL/],
    ]
    for (const [logo_url, message] of rows) {
      const answer = await call(`PUT /status-pages/${id}`, { name: 'Changed', logo_url })
      t.match(answer, { status: 400, body: { error: { details: [{ path: 'logo_url', message }] } } }, logo_url)
    }
    t.match((await call(`GET /status-pages/${id}`)).body.data, { name: 'Acme', logo_url: null })
  },
)

t.test('An address that is set while the worker is idle is fetched immediately', async t => {
  const server = await startApi(t, { ROLES: 'api,schedule' })
  const { key } = await server.tenant()
  const { data } = (await server.call('POST', '/status-pages', { key, body: { name: 'Acme', slug: 'acme' } })).body
  const body = { logo_url: 'https://127.0.0.1:1/logo.png' }
  t.equal((await server.call('PUT', `/status-pages/${data.id}`, { key, body })).status, 200)
  await waitFor(async () => {
    const { body } = await server.call('GET', `/status-pages/${data.id}`, { key })
    return /^cannot be fetched: .*refused/.test(body.data.logo_problem ?? '')
  })
})

t.test('An upload is checked by its bytes and served from the origin of the page', async t => {
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
    for (const kind of ['logo', 'favicon'])
      t.match(await upload(kind, body, type), { status, body: { error: { status } } }, `${kind} ${type}`)
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

t.test(
  'On its custom domain, a page names images that this domain serves, and a link preview names them too',
  async t => {
    const server = await startApi(t)
    const { key } = await server.tenant()
    const { data } = (await server.call('POST', '/status-pages', { key, body: { name: 'Acme', slug: 'acme' } })).body
    await server.call('PUT', `/status-pages/${data.id}`, { key, body: { is_published: true } })
    await execute(
      server.db,
      `UPDATE status_pages SET custom_domain = 'status.acme.test', custom_domain_verified_at = now() WHERE id = ?`,
      [data.id],
    )
    const visit = (path: string) => rawAsk(server.origin, path, { headers: { host: 'status.acme.test' } })
    const parseIconLink = (html: string) => /<link rel="icon" href="([^"]+)"/.exec(html)![1]!
    const without = parseIconLink((await visit('/')).body)
    t.match(await visit(without), { status: 200, body: '<svg' }, 'the default favicon')
    const unversioned = await fetch(`${server.origin}/status/acme/favicon`)
    t.match(unversioned.headers.get('cache-control'), /^public, max-age=60,/, 'its colour may change')

    const put = (kind: string, body: unknown, type: string) =>
      server.call('PUT', `/status-pages/${data.id}/${kind}`, { key, body, headers: { 'content-type': type } })
    await put('logo', SVG, 'image/svg+xml')
    await put('favicon', SVG, 'image/svg+xml')
    const shown = await waitFor(async () => {
      const { body } = await visit('/')
      return body.includes('<img') ? body : null
    })
    const logo = /<img[^>]* src="([^"]+)"/.exec(shown)![1]!
    for (const path of [logo, parseIconLink(shown)]) t.match(await visit(path), { status: 200, body: '<path' }, path)
    const preview = /og:image" content="([^"]+)"/
    t.equal(preview.exec(shown)![1], `https://status.acme.test${logo}`)
    await waitFor(
      async () => {
        const elsewhere = await (await fetch(`${server.origin}/status/acme`)).text()
        return preview.exec(elsewhere)?.[1] === `https://status.acme.test${logo}`
      },
      { label: 'the same preview of the page at its other address' },
    )
  },
)

t.test(
  'GET /status-pages/{id}/logo 200 for members of the project only, also while the page is not published',
  async t => {
    const server = await startApi(t)
    const { key, ...owner } = await server.tenant()
    const other = await server.tenant()
    const viewer = await server.createKey(owner, 'read')
    const { data } = (await server.call('POST', '/status-pages', { key, body: { name: 'Acme', slug: 'acme' } })).body
    const read = (kind: string, asker: string | null = viewer, query = '') =>
      server.call('GET', `/status-pages/${data.id}/${kind}${query}`, { key: asker })
    for (const kind of ['logo', 'favicon']) {
      t.equal((await read(kind)).status, 404, 'there is none')
      const headers = { 'content-type': 'image/svg+xml' }
      await server.call('PUT', `/status-pages/${data.id}/${kind}`, { key, body: SVG, headers })
      const image = await read(kind, viewer, '?v=1')
      t.match(image, { status: 200, body: /<path d="M0 0">/ })
      t.notMatch(image.body, 'alert')
      t.equal(image.headers.get('content-type'), 'image/svg+xml')
      t.equal(image.headers.get('x-content-type-options'), 'nosniff')
      t.match(image.headers.get('content-security-policy'), /^default-src 'none'.*sandbox/)
      t.match(image.headers.get('cache-control'), /no-store|private/, 'no cache in between keeps it')
      t.equal((await read(kind, other.key)).status, 404)
      t.equal((await read(kind, null)).status, 401)
      t.equal((await read(kind, viewer, '?size=1')).status, 400)
      t.equal((await server.call('GET', `/status-pages/nope/${kind}`, { key })).status, 404)
      t.equal((await fetch(`${server.origin}/status/acme/${kind}`)).status, 404, 'visitors do not get it')
    }
  },
)
