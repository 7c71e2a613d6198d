import t from 'tap'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { rawAsk } from '../support/raw-ask.ts'

const api = await startApi(t, { PUBLIC_URL: 'http://localhost:0', RATE_LIMIT_PER_MINUTE: '1000000' })
const tenant = await api.tenant()
const call = (method: string, path: string, body?: unknown, key = tenant.key) => api.call(method, path, { key, body })
const createLink = async (body: object) => (await call('POST', '/wall-links', body)).body.data
const toPath = ({ url }: { url: string }) => new URL(url).pathname
const see = (path: string) => fetch(api.origin + path, { headers: { accept: 'text/html' } })

t.test('POST /wall-links 201 shows the address once, and lists and the database have no token', async t => {
  const answer = await call('POST', '/wall-links', { name: 'Office', query: 'tag:shop' })
  t.match(answer, { status: 201, body: { data: { name: 'Office', query: 'tag:shop', last_used_at: null } } })
  const { url, ...link } = answer.body.data
  const [, token] = /^http:\/\/localhost:0\/wall\/([\w-]{32})$/.exec(url) ?? []
  t.ok(token)
  const list = await call('GET', '/wall-links')
  t.same([list.status, list.body.data], [200, [link]])
  t.notMatch(JSON.stringify(await query(api.db, 'SELECT * FROM wall_links')), token)
  const { body } = await call('GET', '/audit-log?resource=wall_link')
  t.match(body.data, [{ action: 'created', resource_name: 'Office' }])
  t.notMatch(JSON.stringify(body), token)
  t.equal((await call('DELETE', `/wall-links/${link.id}`)).status, 200)
})

t.test('The page shows the monitors of the query without ids and addresses, and is not indexed', async t => {
  const secret = 'https://inside.example.com/health'
  const shop = await call('POST', '/monitors', { name: 'Shop', type: 'http', url: secret, tags: ['shop'] })
  await call('POST', '/monitors', { name: 'Mail', type: 'http', url: 'https://mail.example.com', tags: ['mail'] })
  const link = await createLink({ name: 'Only the shop', query: 'tag:shop' })
  const page = await see(toPath(link))
  t.equal(page.status, 200)
  t.equal(page.headers.get('x-robots-tag'), 'noindex')
  t.equal(page.headers.get('cache-control'), 'no-store')
  t.equal(page.headers.get('referrer-policy'), 'no-referrer')
  t.match(page.headers.get('content-security-policy'), /default-src 'none'.*require-trusted-types-for 'script'/)
  const html = await page.text()
  t.match(html, /Only the shop/)
  t.match(html, /<meta name="robots" content="noindex"/)
  for (const hidden of [secret, 'inside.example.com', shop.body.data.id, tenant.projectId, link.id, 'mail'])
    t.notOk(html.includes(hidden), `the page does not contain ${hidden}`)
  const { data } = (await (await see(`${toPath(link)}/data`)).json()) as { data: object }
  t.match(data, { name: 'Only the shop', total: 1, groups: [{ tag: 'shop', statuses: /^[nu]$/ }], troubles: [] })
  t.match((await call('GET', '/wall-links')).body.data[0], { id: link.id, last_used_at: /^\d{4}-/ })
})

t.test('DELETE /wall-links/{id} 200 ends the link at the next read, and others get 404', async t => {
  const link = await createLink({ name: 'Kitchen' })
  t.equal((await see(toPath(link))).status, 200)
  const other = await api.tenant()
  t.equal((await call('DELETE', `/wall-links/${link.id}`, undefined, other.key)).status, 404)
  t.equal((await call('DELETE', '/wall-links/nothing')).status, 404)
  t.same((await call('GET', '/wall-links', undefined, other.key)).body.data, [])
  t.equal((await see(`${toPath(link)}/data`)).status, 200)
  t.equal((await call('DELETE', `/wall-links/${link.id}`)).status, 200)
  const gone = await see(toPath(link))
  t.equal(gone.status, 404)
  t.match(await gone.text(), /Page not found/)
  t.equal((await see(`${toPath(link)}/data`)).status, 404)
})

t.test('POST /wall-links 400, 403 and 409: a text of two lines, a read key, and more than 20 links', async t => {
  const wrong = await call('POST', '/wall-links', { name: 'Two\nlines' })
  t.match(wrong, { status: 400, body: { error: { details: [{ path: 'name' }] } } })
  const { key } = await api.tenant()
  const reader = await api.createKey(tenant, 'read')
  t.equal((await call('POST', '/wall-links', { name: 'No' }, reader)).status, 403)
  t.equal((await call('GET', '/wall-links', undefined, reader)).status, 200)
  for (let i = 0; i < 20; i++) t.equal((await call('POST', '/wall-links', { name: `Wall ${i}` }, key)).status, 201)
  const refused = await call('POST', '/wall-links', { name: 'Wall 21' }, key)
  t.match(refused, { status: 409, body: { error: { message: /at most 20 wall links/ } } })
})

t.test('A network that guesses tokens is refused, and a known link goes on', async t => {
  const link = await createLink({ name: 'Hall' })
  t.equal((await see(toPath(link))).status, 200)
  const guess = (n: number) => see(`/wall/${String(n).padStart(32, 'A')}/data`)
  const statuses = new Set<number>()
  for (let n = 0; n < 200; n++) statuses.add((await guess(n)).status)
  t.same([...statuses].sort(), [404, 429])
  t.equal((await see(toPath(link))).status, 200, 'screens behind the same address go on')
})

t.test('No other host serves a wallboard', async t => {
  const { url } = await createLink({ name: 'Foreign' })
  for (const host of ['status.customer.example', 'attacker.example']) {
    const { status, body } = await rawAsk(api.origin, new URL(url).pathname, { headers: { host, accept: 'text/html' } })
    t.ok(status === 404 || status === 421, `${host}: ${status}`)
    t.notMatch(body, 'Foreign')
  }
})
