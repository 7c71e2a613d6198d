import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { insertIdleChannels } from '../support/idle-channels.ts'
import { startSmtp } from '../support/smtp.ts'
import { insertMonitors } from '../support/verdict.ts'

const api = await startApi(t)
const readLimits = async (key: string) => (await api.call('GET', '/project', { key })).body.data.limits

/** A resource with its limit on the free plan. */
const CAPS: { name: string; limit: number; noun: RegExp; path: string; body: (n: number, ids: Ids) => object }[] = [
  {
    name: 'api_keys',
    limit: 10,
    noun: /API keys/,
    path: '/api-keys',
    body: n => ({ name: `Key ${n}`, scope: 'admin' }),
  },
  {
    name: 'maintenance_windows',
    limit: 50,
    noun: /maintenance windows/,
    path: '/maintenance-windows',
    body: (_, { monitorIds }) => ({
      ...{ title: 'Move', monitor_ids: [monitorIds[0]] },
      ...{ starts_at: '2126-03-01T09:00:00Z', ends_at: '2126-03-01T11:00:00Z' },
    }),
  },
  { name: 'open_incidents', limit: 50, noun: /open incidents/, path: '/incidents', body: () => ({ title: 'Down' }) },
  {
    name: 'alert_subscriptions',
    limit: 20,
    noun: /alert subscriptions/,
    path: '/alerts/project-channels',
    body: (n, { channelIds }) => ({
      alert_channel_id: channelIds[Math.floor(n / 2)],
      alert_type: n % 2 === 0 ? 'incident' : 'dependency_incident',
    }),
  },
]
type Ids = { monitorIds: string[]; channelIds: string[] }

for (const { name, limit, noun, path, body } of CAPS) {
  t.test(`${name}: of concurrent requests only as many succeed as the plan includes`, async t => {
    const { key, projectId } = await api.tenant('free')
    const ids = {
      monitorIds: await insertMonitors(api.db, projectId, 1),
      channelIds: await insertIdleChannels(api.db, projectId, limit),
    }
    const used = (await readLimits(key))[name].used
    const add = (n: number) => api.call('POST', path, { key, body: body(n, ids) })
    // up to one below the limit, then concurrent requests
    for (let n = 0; n < limit - used - 1; n++) t.equal((await add(n)).status, 201)
    const answers = await Promise.all(Array.from({ length: 6 }, (_, i) => add(limit - used - 1 + i)))
    t.same(answers.map(({ status }) => status).sort(), [201, 402, 402, 402, 402, 402])
    const { error } = answers.find(({ status }) => status === 402)!.body
    t.match(error, { code: 'tier_limit_reached', message: noun })
    t.match(error.message, new RegExp(`the free plan includes ${limit} .* and ${limit} are in use`))
    t.same((await readLimits(key))[name], { limit, used: limit })
  })
}

t.test('Resolved incidents and ended windows do not count; reopened ones do', async t => {
  const { key } = await api.tenant('free')
  const open = async () => api.call('POST', '/incidents', { key, body: { title: 'Down' } })
  const ids: string[] = []
  for (let n = 0; n < 50; n++) ids.push((await open()).body.data.id)
  t.equal((await open()).status, 402)
  const turn = (status: string) => api.call('PUT', `/incidents/${ids[0]}`, { key, body: { status } })
  t.equal((await turn('resolved')).status, 200)
  t.equal((await open()).status, 201)
  t.match(await turn('investigating'), { status: 402, body: { error: { code: 'tier_limit_reached' } } })
  const posted = await api.call('POST', `/incidents/${ids[0]}/updates`, {
    key,
    body: { message: 'again', status: 'monitoring' },
  })
  t.equal(posted.status, 402)

  const { key: planner, projectId } = await api.tenant('free')
  const [monitorId] = await insertMonitors(api.db, projectId, 1)
  const future = { starts_at: '2126-03-01T09:00:00Z', ends_at: '2126-03-01T11:00:00Z' }
  const plan = async () => {
    const body = { title: 'Move', monitor_ids: [monitorId], ...future }
    const answer = await api.call('POST', '/maintenance-windows', { key: planner, body })
    t.equal(answer.status, 201)
    return answer.body.data.id
  }
  const ended = await plan()
  const past = { starts_at: '2026-03-01T09:00:00Z', ends_at: '2026-03-01T11:00:00Z', id: ended }
  const end = 'UPDATE maintenance_windows SET starts_at = :starts_at, ends_at = :ends_at WHERE id = :id'
  await execute(api.db, end, past)
  for (let n = 0; n < 50; n++) await plan()
  const again = await api.call('PUT', `/maintenance-windows/${ended}`, { key: planner, body: future })
  t.match(again, { status: 402, body: { error: { code: 'tier_limit_reached' } } })
})

t.test('Each limit can be set for all plans or for each plan', async t => {
  const own = await startApi(t, {
    ...{ API_KEYS_LIMIT: '2/3/none', MONITORS_LIMIT: '1', STATUS_PAGES_LIMIT: '0', DATA_SOURCES_LIMIT: '0' },
    ...{ MEMBERS_LIMIT: '1', SUBSCRIBERS_LIMIT: '5', OPEN_INCIDENTS_LIMIT: '1', MAINTENANCE_WINDOWS_LIMIT: '0' },
    ...{ ALERT_SUBSCRIPTIONS_LIMIT: '0' },
  })
  const { key } = await own.tenant('free')
  const post = async (path: string, body: object) => (await own.call('POST', path, { key, body })).status
  const addKey = () => post('/api-keys', { name: 'Key', scope: 'read' })
  t.same([await addKey(), await addKey()], [201, 402])
  t.same(
    [await post('/monitors', { name: 'a', type: 'http' }), await post('/monitors', { name: 'b', type: 'http' })],
    [201, 402],
  )
  const bulk = await own.call('POST', '/monitors/bulk', { key, body: { monitors: [{ name: 'c', type: 'http' }] } })
  t.match(bulk.body, { monitors: [], errors: [{ index: 0, error: /1 monitor/ }] })
  t.equal(await post('/status-pages', { name: 'a', slug: 'a' }), 402)
  t.equal(await post('/data-sources', { name: 'a', url: 'https://example.com/' }), 402)
  t.equal(await post('/agent/invite', { email: 'ann@example.com' }), 402)
  const { limits } = (await own.call('GET', '/project', { key })).body.data
  t.match(limits, {
    api_keys: { limit: 2, used: 2 },
    subscribers: { limit: 5, used: 0 },
    monitors: { limit: 1, used: 1 },
  })
  const { key: rich } = await own.tenant('business')
  t.equal((await own.call('GET', '/project', { key: rich })).body.data.limits.api_keys.limit, null)
})

t.test('A page accepts as many subscribers as the plan includes, also for concurrent confirmations', async t => {
  const smtp = await startSmtp(t)
  const own = await startApi(t, { ROLES: 'api,deliver', SMTP_URL: smtp.url, SUBSCRIBERS_LIMIT: '2' })
  const { key } = await own.tenant('free')
  const { data } = (await own.call('POST', '/status-pages', { key, body: { name: 'Acme', slug: 'acme' } })).body
  await own.call('PUT', `/status-pages/${data.id}`, { key, body: { is_published: true } })
  const send = (path: string, fields: Record<string, string> = {}) =>
    fetch(`${own.origin}${path}`, { method: 'POST', body: new URLSearchParams(fields) })
  for (const name of ['ann', 'ben', 'cat', 'dan'])
    t.equal((await send('/status/acme/subscribe', { email: `${name}@example.com` })).status, 200)
  const mails = await smtp.waitFor(4)
  const links = mails.map(({ text }) => new URL(/https?:\/\/\S+\/subscription\/confirm\S+/.exec(text ?? '')![0]))
  const answers = await Promise.all(links.map(({ pathname, search }) => send(`${pathname}${search}`)))
  t.same(answers.map(({ status }) => status).sort(), [200, 200, 409, 409])
  t.equal((await send('/status/acme/subscribe', { email: 'eve@example.com' })).status, 409)
  const { limits } = (await own.call('GET', '/project', { key })).body.data
  t.same(limits.subscribers, { limit: 2, used: 2 })
})
