import { parseAtomFeed, parseRssFeed } from 'feedsmith'
import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { waitFor } from '../support/wait.ts'

const server = await startApi(t, { PUBLIC_URL: 'https://picket.example.com' })
const make = async (path: string, body: object) => (await server.call('POST', path, { body })).body.data
const page = await make('/status-pages', { name: 'Acme', slug: 'acme' })
const component = await make(`/status-pages/${page.id}/components`, { name: 'Shop', status: 'degraded' })
const incident = await make('/incidents', { title: 'Slow', severity: 'minor', message: 'We look into it.' })
await server.call('POST', `/incidents/${incident.id}/updates`, { body: { message: 'A secret', is_internal: true } })

const PATHS: [string, RegExp][] = [
  ['/api/v2/summary.json', /^application\/json/],
  ['/api/v2/status.json', /^application\/json/],
  ['/api/v2/components.json', /^application\/json/],
  ['/api/v2/incidents.json', /^application\/json/],
  ['/feed.rss', /^application\/rss\+xml/],
  ['/feed.atom', /^application\/atom\+xml/],
  ['/badge.svg', /^image\/svg\+xml/],
  ['/widget.js', /^text\/javascript/],
  ['/embed', /^text\/html/],
]
const get = async (path: string, headers: Record<string, string> = {}, slug = 'acme') => {
  const answer = await fetch(`${server.origin}/status/${slug}${path}`, { headers })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

t.test('An unpublished page is 404 and must not be cached', async t => {
  for (const [path] of [...PATHS, ['/subscribe'] as const]) {
    const { status, headers } = await get(path)
    t.same([status, headers.get('cache-control')], [404, 'no-store'], path)
  }
  await server.call('PUT', `/status-pages/${page.id}`, { body: { is_published: true } })
  await waitFor(async () => (await get('')).status === 200)
})

t.test('Each document has a content type, an ETag with 304, and a cache time', async t => {
  for (const [path, type] of PATHS) {
    const { status, headers, text } = await get(path)
    t.equal(status, 200, path)
    t.match(headers.get('content-type'), type)
    t.match(headers.get('cache-control'), /^public, max-age=[1-9]/)
    t.notMatch(text, 'A secret')
    // the age of the page may change between two requests
    await waitFor(async () => {
      const { headers } = await get(path)
      const again = await get(path, { 'if-none-match': headers.get('etag') ?? '' })
      return again.status === 304 && again.text === ''
    })
  }
})

t.test('Other sites may read feeds and JSON, and frame only /embed', async t => {
  for (const [path] of PATHS.filter(([path]) => path !== '/embed')) {
    const { headers } = await get(path)
    t.equal(headers.get('access-control-allow-origin'), '*', path)
    t.equal(headers.get('access-control-expose-headers'), 'x-service-stale-since', path)
  }
  t.match((await get('/embed')).headers.get('content-security-policy'), 'frame-ancestors *')
  for (const path of ['', '/subscribe']) {
    const { headers } = await get(path)
    t.match(headers.get('content-security-policy'), "frame-ancestors 'none'", path)
    t.equal(headers.get('access-control-allow-origin'), null, path)
  }
  t.equal(
    (await get('/badge.svg')).headers.get('content-security-policy'),
    "default-src 'none'; style-src 'unsafe-inline'",
  )
})

t.test('Feeds and JSON contain the incident and its public updates', async t => {
  const [rss, atom] = [await get('/feed.rss'), await get('/feed.atom')]
  t.match(parseRssFeed(rss.text), { title: 'Acme', items: [{ title: 'Slow', description: /We look into it/ }] })
  t.match(parseAtomFeed(atom.text), { entries: [{ id: `urn:uuid:${incident.id}` }] })
  const changed = rss.headers.get('last-modified') ?? ''
  t.ok(Date.parse(changed) <= Date.now())
  const since = { 'if-modified-since': changed }
  t.equal((await get('/feed.rss', since)).status, 200, 'a withdrawn text does not move Last-Modified; the tag decides')
  await waitFor(async () => {
    const tag = (await get('/feed.rss')).headers.get('etag') ?? ''
    return (await get('/feed.rss', { ...since, 'if-none-match': tag })).status === 304
  })
  const summary = JSON.parse((await get('/api/v2/summary.json')).text)
  t.match(summary, {
    page: { name: 'Acme', url: 'https://picket.example.com/status/acme' },
    status: { indicator: 'minor' },
    components: [{ id: component.id, status: 'degraded_performance' }],
    incidents: [{ name: 'Slow', incident_updates: [{ body: 'We look into it.' }] }],
  })
  t.equal(summary.incidents[0].incident_updates.length, 1)
})

t.test('Each badge query gives a separate badge', async t => {
  t.match((await get('/badge.svg')).text, 'status: degraded')
  t.match((await get(`/badge.svg?component=${component.id}&label=Our%20%3Cshop%3E`)).text, 'Our &lt;shop&gt;: degraded')
  t.match((await get('/badge.svg?type=response_time')).text, 'response time: unknown')
  t.match((await get(`/badge.svg?component=${incident.id}`)).text, 'unknown')
  t.match((await get('/badge.svg?type=status&type=uptime&style=plastic')).text, 'status: degraded')
})

t.test('A custom domain serves all documents at the root', async t => {
  await execute(
    server.db,
    `UPDATE status_pages SET custom_domain = 'status.acme.test', custom_domain_verified_at = now() WHERE id = ?`,
    [page.id],
  )
  const { origin } = server
  const { request } = await import('node:http')
  const visit = (path: string) =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      request(`${origin}${path}`, { headers: { host: 'status.acme.test' } }, answer => {
        let text = ''
        answer.on('data', chunk => {
          text += chunk
        })
        answer.on('end', () => resolve({ status: answer.statusCode, text }))
      })
        .on('error', reject)
        .end()
    })
  for (const [path] of [...PATHS, ['/subscribe'] as const]) t.equal((await visit(path)).status, 200, path)
  t.match((await visit('/feed.rss')).text, '<link>https://status.acme.test</link>')
})

t.test(
  'POST /status/acme/subscribe 400 with the problem, 415 for other content types, 429 beyond the limit',
  async t => {
    const send = async (form: Record<string, string> | string) => {
      const body = typeof form === 'string' ? form : new URLSearchParams(form)
      const headers: Record<string, string> = typeof form === 'string' ? { 'content-type': 'application/json' } : {}
      const answer = await fetch(`${server.origin}/status/acme/subscribe`, { method: 'POST', body, headers })
      return { status: answer.status, headers: answer.headers, text: await answer.text() }
    }
    const wrong: [Record<string, string>, string][] = [
      [{}, 'This is not a valid email address.'],
      [{ email: 'ann@example.com\r\nBcc: ben@example.com' }, 'This is not a valid email address.'],
      [{ email: 'ann@example.com,ben@example.com' }, 'This is not a valid email address.'],
      [{ email: '"><script>alert(1)</script>@example.com' }, 'This is not a valid email address.'],
      [{ webhook: 'http://169.254.169.254/latest' }, 'blocked_target'],
      [{ webhook: 'file:///etc/passwd' }, 'http or https'],
      [{ email: 'ann@example.com', webhook: 'https://hooks.example.com/' }, 'not both'],
    ]
    for (const [form, problem] of wrong) {
      const { status, text } = await send(form)
      t.equal(status, 400, problem)
      t.match(text, problem)
      t.notMatch(text, '<script>')
    }
    t.equal((await send('{"email":"ann@example.com"}')).status, 415)
    // a new minute may begin while they are sent
    const forms = Array.from({ length: 41 }, (_, i) => ({ email: `visitor-${i}@example.com` }))
    const statuses = (await Promise.all(forms.map(send))).map(({ status }) => status)
    t.ok(statuses.includes(429), 'too many forms of one network')
  },
)
