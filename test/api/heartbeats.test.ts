// takes about 20 s
import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { findAnswerDifferences } from '../support/answers.ts'
import { startApi } from '../support/api-server.ts'
import { createDatabase } from '../support/database.ts'
import { HEARTBEAT, ping, readHeartbeat } from '../support/heartbeats.ts'
import { startNats } from '../support/nats.ts'
import { readOperations } from '../support/operations.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import { waitFor } from '../support/wait.ts'

const api = await startApi(t, { ROLES: 'api,schedule', PUBLIC_URL: 'https://picket.example' })
const { operations } = await readOperations(api)

async function create(changes: object = {}) {
  const { status, body } = await api.call('POST', '/monitors', { body: { ...HEARTBEAT, ...changes } })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return { id: body.data.id as string, url: localUrl(body.data.ping_url) }
}
const localUrl = (pingUrl: string) => pingUrl.replace('https://picket.example', api.origin)
const read = async (id: string) => (await api.call('GET', `/monitors/${id}`)).body.data
const readStatus = async (id: string) => (await read(id)).status
const readChecks = async (id: string, query = '') => (await api.call('GET', `/monitors/${id}/checks${query}`)).body
/**
 * Makes a heartbeat overdue since an hour ago, which is before any gap in the acceptance of pings that a busy machine
 * causes and that extends deadlines.
 */
const runOut = (id: string) =>
  execute(api.db, `UPDATE heartbeats SET due_at = now() - interval '1 hour' WHERE monitor_id = ?`, [id])
const readTransitions = async (id: string) => (await api.call('GET', `/monitors/${id}/transitions`)).body.data

t.test('POST /monitors 201: a heartbeat monitor has a ping URL and no issues, others have none', async t => {
  const { body } = await api.call('POST', '/monitors', { body: HEARTBEAT })
  t.match(body.data.ping_url, /^https:\/\/picket\.example\/ping\/[0-9A-Za-z]{24}$/)
  t.match(body.data, { status: null, last_checked_at: null, configuration_issues: [] })
  t.equal((await read(body.data.id)).ping_url, body.data.ping_url)
  const bulk = await api.call('POST', '/monitors/bulk', { body: { monitors: [HEARTBEAT, HEARTBEAT] } })
  const urls = bulk.body.monitors.map((monitor: { ping_url: string }) => monitor.ping_url)
  t.equal(new Set([...urls, body.data.ping_url]).size, 3, 'each its own, in bulk too')
  const http = await api.call('POST', '/monitors', { body: { name: 'Shop', type: 'http' } })
  t.equal(http.body.data.ping_url, null)
})

t.test('POST /ping/{token} 200 with any Content-Type, also an invalid one', async t => {
  const { url } = await create()
  for (const type of ['', 'text', 'text/plain charset=utf-8', 'application/json,application/json'])
    for (const sent of ['done', undefined])
      t.match(
        await ping(url, '/log', { method: 'POST', headers: { 'content-type': type }, ...(sent && { body: sent }) }),
        { status: 200, text: 'OK' },
        `Content-Type "${type}"`,
      )
})

t.test('GET, HEAD and POST /ping/{token} 200 OK is a success', async t => {
  const { id, url } = await create()
  for (const method of ['GET', 'HEAD', 'POST']) {
    const answer = await ping(url, '', { method })
    t.equal(answer.status, 200, method)
    t.equal(answer.text, method === 'HEAD' ? '' : 'OK')
    t.match(answer.headers.get('content-type'), /^text\/plain/)
  }
  t.match(await read(id), {
    status: 'up',
    last_checked_at: (await readHeartbeat(api.db, id))?.last_ping_at.toISOString(),
  })
  t.equal((await readChecks(id)).meta.total, 3)
  t.same(
    (await readTransitions(id)).map(({ from, to, summary }: never) => [from, to, summary]),
    [[null, 'up', 'A success arrived.']],
  )
})

const SIGNALS: [signal: string, kind: string, check: string, status: string | null, error: string | null][] = [
  ['', 'success', 'up', 'up', null],
  ['/0', 'success', 'up', 'up', null],
  ['/fail', 'fail', 'down', 'down', 'reported_failure'],
  ['/1', 'fail', 'down', 'down', 'exit_code'],
  ['/255', 'fail', 'down', 'down', 'exit_code'],
  ['/start', 'start', 'unknown', null, null],
  ['/log', 'log', 'unknown', null, null],
]
for (const [signal, kind, check, status, error] of SIGNALS) {
  t.test(
    `POST /ping/{token}${signal} 200 is stored as ${kind}, and the monitor is ${status ?? 'still new'}`,
    async t => {
      const { id, url } = await create()
      t.match(await ping(url, signal, { method: 'POST' }), { status: 200, text: 'OK' })
      t.equal(await readStatus(id), status)
      const { data } = await readChecks(id)
      t.match(data, [{ status: check, region: 'heartbeat', probe_id: null, heartbeat: { kind, body: null } }])
      t.equal(data[0].error?.code ?? null, error)
      t.match(await readChecks(id, `?status=${check}&region=heartbeat`), { meta: { total: 1 } })
      t.match(await readChecks(id, '?status=degraded'), { meta: { total: 0 } })
      t.match(await readChecks(id, '?region=us-east'), { meta: { total: 0 } })
      const operation = operations.find(({ name }) => name === 'GET /monitors/{id}/checks')!
      t.same(findAnswerDifferences(operation, 200, await readChecks(id)), [])
    },
  )
}

t.test(
  'GET /ping/{token} 404 as short text for unknown tokens and signals, other monitors and deleted ones',
  async t => {
    const { id, url } = await create()
    const unknown = [
      `${api.origin}/ping/${'a'.repeat(24)}`,
      `${api.origin}/ping/short`,
      `${api.origin}/ping/${'a'.repeat(5_000)}`,
      ...['/256', '/-1', '/01x', '/end', '/%00', '/START'].map(signal => `${url}${signal}`),
    ]
    for (const one of unknown) t.match(await ping(one), { status: 404 }, one.slice(-30))
    t.match(await ping(`${url}/256`), { text: 'ping URL not found' })
    t.equal(await readHeartbeat(api.db, id), null, 'nothing was kept')
    await api.call('PUT', `/monitors/${id}`, { body: { type: 'http', url: 'https://shop.example.com' } })
    t.equal((await ping(url)).status, 404, 'it is no longer a heartbeat')
    t.equal((await read(id)).ping_url, null)
    await api.call('PUT', `/monitors/${id}`, { body: { type: 'heartbeat' } })
    t.equal((await ping(url)).status, 200, 'the URL is the same when it is one again')
    await api.call('DELETE', `/monitors/${id}`)
    t.equal((await ping(url)).status, 404)
  },
)

t.test('a monitor that becomes a heartbeat has no status until its first ping, and no open incident', async t => {
  const { id, url } = await create()
  await ping(url, '/fail')
  await api.call('PUT', `/monitors/${id}`, { body: { type: 'http', url: 'https://shop.example.com' } })
  t.equal(await readStatus(id), null)
  const { data } = (await api.call('GET', '/incidents')).body
  t.match(
    data.find((one: { monitor_ids: string[] }) => one.monitor_ids.includes(id)),
    { status: 'resolved' },
  )
})

t.test('the first 10 kB of a body of any type are kept, and its beginning is the reason of a failure', async t => {
  const { id, url } = await create()
  const body = `rsync: \0 no space\n left on   device ${'é'.repeat(2_000_000)}`
  const headers = { 'content-type': 'application/json' }
  t.match(await ping(url, '/23', { method: 'POST', body, headers }), { status: 200, text: 'OK' })
  t.match(await ping(url, '/log', { method: 'POST', body: new Uint8Array([0xff, 0xfe, 0x41]) }), { status: 200 })
  const [log, failure] = (await readChecks(id)).data
  t.equal(log.heartbeat.body, '\ufffd\ufffdA')
  t.equal(failure.heartbeat.exit_code, 23)
  t.match(failure.error, { source: 'target', code: 'exit_code', message: /^rsync: \ufffd no space left on device é+$/ })
  t.equal(Buffer.byteLength(failure.heartbeat.body) <= 10_250, true)
  t.match(failure.heartbeat.body, /^rsync: \ufffd no space\n left on {3}device é+$/, 'as it was sent, whole characters')
  t.match(await readTransitions(id), [{ to: 'down', summary: /^The job failed: rsync: / }])
})

t.test('a reported failure makes the monitor down with an incident, and the next success ends it', async t => {
  const { id, url } = await create()
  await ping(url)
  await ping(url, '/fail', { method: 'POST', body: 'disk full' })
  t.equal(await readStatus(id), 'down')
  await ping(url, '/log')
  await ping(url, '/start')
  t.equal(await readStatus(id), 'down', 'neither a log nor a start is a success')
  await ping(url, '/0')
  t.equal(await readStatus(id), 'up')
  t.match(await readTransitions(id), [
    { from: 'down', to: 'up', summary: /^A success arrived, after an outage of \d+ s\.$/ },
    {
      from: 'up',
      to: 'down',
      quorum: 'full',
      explanation: { votes: [{ region: 'heartbeat' }], timings: { others_asked_at: null } },
    },
    { from: null, to: 'up' },
  ])
  const incidents = (await api.call('GET', '/incidents')).body.data
  const mine = incidents.filter((one: { monitor_ids: string[] }) => one.monitor_ids.includes(id))
  t.match(mine, [{ title: 'Backup is down', status: 'resolved', source: 'automatic' }])
  t.equal(mine.length, 1)
})

t.test('the time from start to success is the response time', async t => {
  const { id, url } = await create()
  const beganMs = Date.now()
  await ping(url, '/start')
  await waitFor(async () => Date.now() - (await readHeartbeat(api.db, id))!.run_started_at!.getTime() > 60)
  await ping(url)
  const tookMs = Date.now() - beganMs
  await ping(url)
  const [alone, finished, started] = (await readChecks(id)).data
  t.ok(finished.response_time_ms > 50 && finished.response_time_ms <= tookMs, `${finished.response_time_ms} ms`)
  t.same([started.response_time_ms, alone.response_time_ms], [0, 0], 'a success without a start has none')
})

t.test(
  'a heartbeat without a success within interval and grace is down, once; one without a ping stays new',
  async t => {
    const [late, fresh, begun] = [await create(), await create(), await create()]
    await ping(late.url)
    await ping(begun.url, '/start')
    for (const { id } of [late, begun]) await runOut(id)
    await waitFor(async () => (await readStatus(late.id)) === 'down' && (await readStatus(begun.id)) === 'down')
    t.equal(await readStatus(fresh.id), null)
    const message = 'no success within 1 hour and a grace period of 1 minute'
    const { data } = await readChecks(late.id)
    t.match(data, [
      { status: 'down', error: { source: 'target', code: 'overdue', message }, heartbeat: { kind: 'overdue' } },
      { status: 'up' },
    ])
    t.equal(
      (await read(late.id)).last_checked_at,
      data[1].started_at,
      'an overdue ping does not count as the last check',
    )
    t.match(await readTransitions(late.id), [{ to: 'down', summary: `Overdue: ${message}.` }, { to: 'up' }])
    t.equal((await readHeartbeat(api.db, late.id))?.due_at, null, 'it is not found overdue again')
    await ping(late.url)
    t.equal(await readStatus(late.id), 'up')
  },
)

t.test(
  'a paused heartbeat stores pings without evaluation, and begins again with the first ping after it is resumed',
  async t => {
    const { id, url } = await create()
    await ping(url)
    await api.call('POST', `/monitors/${id}/pause`)
    t.match(await ping(url, '/fail'), { status: 200, text: 'OK' })
    t.match(await read(id), { status: null, is_paused: true })
    await api.call('POST', `/monitors/${id}/resume`)
    await runOut(id)
    await waitFor(async () => (await readHeartbeat(api.db, id))?.due_at === null, { label: 'nothing to be waited for' })
    t.equal(await readStatus(id), null, 'what was due before the pause is not')
    await ping(url)
    t.equal(await readStatus(id), 'up')
    t.ok((await readHeartbeat(api.db, id))?.due_at)
    t.equal((await readChecks(id)).meta.total, 3, 'all pings, and nothing overdue')
  },
)

t.test('an update without interval and grace keeps the deadline of the heartbeat', async t => {
  const { id, url } = await create()
  await ping(url)
  await api.call('PUT', `/monitors/${id}`, { body: { timeout_ms: 5_000, name: 'Nightly' } })
  t.equal(await readStatus(id), 'up')
  await runOut(id)
  await waitFor(async () => (await readStatus(id)) === 'down')
})

t.test('a heartbeat without an interval stores its pings and has no status', async t => {
  const { id, url } = await create({ heartbeat_interval: undefined })
  await ping(url, '/fail')
  t.match(await read(id), { status: null, configuration_issues: [/heartbeat_interval is required/] })
  t.equal((await readChecks(id)).meta.total, 1)
})

t.test('POST /monitors/{id}/check 409 for a heartbeat', async t => {
  const { id } = await create()
  const { status, body } = await api.call('POST', `/monitors/${id}/check`)
  t.same([status, body.error.code], [409, 'conflict'])
  t.match(body.error.message, /send a ping to its ping_url/)
})

t.test('GET /monitors/{id}/checks 404 for a heartbeat of another project', async t => {
  const { id } = await create()
  const { key } = await api.tenant()
  t.equal((await api.call('GET', `/monitors/${id}/checks`, { key })).status, 404)
})

t.test('GET /monitors/{id}/checks 200 lists pings newest first, in pages, between two times', async t => {
  const { id, url } = await create()
  for (const signal of ['/1', '/2', '/3']) await ping(url, signal)
  const { data, meta } = await readChecks(id, '?per_page=2')
  t.same(meta, { page: 1, per_page: 2, total: 3, total_pages: 2 })
  t.same(
    data.map((one: { heartbeat: { exit_code: number } }) => one.heartbeat.exit_code),
    [3, 2],
  )
  t.match(await readChecks(id, `?from=${data[1].started_at}&to=${data[0].started_at}`), { data: [{ id: data[1].id }] })
})

t.test(
  'GET /ping/{token} 429 for too many pings of a URL and for guesses, without an effect on known URLs',
  async t => {
    const limited = await startApi(t, { PINGS_PER_MINUTE: '5' })
    const urls: string[] = []
    for (let i = 0; i < 3; i++) {
      const { body } = await limited.call('POST', '/monitors', { body: HEARTBEAT })
      urls.push(`${limited.origin}/ping/${body.data.ping_url.split('/').at(-1)}`)
    }
    // the minute may turn while they are sent
    const answers = await Promise.all(Array.from({ length: 11 }, () => ping(urls[0]!)))
    const refused = answers.filter(({ status }) => status === 429)
    t.ok(refused.length > 0)
    t.match(refused[0], { text: 'too many pings' })
    t.ok(Number(refused[0]!.headers.get('retry-after')) > 0)
    t.equal((await ping(urls[1]!)).status, 200, 'another URL is not held up')
    const guess = (i: number) => ping(`${limited.origin}/ping/${String(i).padStart(24, 'x')}`)
    const guesses = await Promise.all(Array.from({ length: 130 }, (_, i) => guess(i)))
    await waitFor(async () => (await guess(1_000)).status === 429, { label: 'guesses are refused' })
    t.ok(guesses.every(({ status }) => status === 404 || status === 429))
    t.equal((await ping(urls[1]!)).status, 200, 'a URL that was pinged before does not count as a guess')
  },
)

t.test('GET /ping/{token} 200 while PostgreSQL is unavailable: the ping is queued and counts later', async t => {
  const relay = await startTcpRelay(t, (await createDatabase(t)).url)
  const away = await startApi(t, { DATABASE_URL: relay.url })
  const { body } = await away.call('POST', '/monitors', { body: HEARTBEAT })
  const url = `${away.origin}/ping/${body.data.ping_url.split('/').at(-1)}`
  const readSignals = async () => {
    const { data } = (await away.call('GET', `/monitors/${body.data.id}/checks`)).body
    return data.map((one: { heartbeat: { kind: string } }) => one.heartbeat.kind).reverse()
  }
  t.equal((await ping(url)).status, 200)
  await relay.cut()
  t.match(await ping(url, '/start'), { status: 200, text: 'OK' }, 'PostgreSQL refuses connections')
  await relay.restore()
  await waitFor(async () => (await readSignals()).length === 2, { label: 'the first kept ping is stored' })
  relay.swallow()
  t.match(await ping(url, '/fail'), { status: 200, text: 'OK' }, 'PostgreSQL does not answer')
  await relay.restore()
  await waitFor(async () => (await readSignals()).length === 3, { label: 'the second kept ping is stored' })
  t.same(await readSignals(), ['success', 'start', 'fail'])
  await waitFor(async () => (await away.call('GET', `/monitors/${body.data.id}`)).body.data.status === 'down')
})

t.test(
  'GET /ping/{token} 503 while PostgreSQL and NATS are unavailable: a ping that is not stored is not acknowledged',
  async t => {
    const relay = await startTcpRelay(t, (await createDatabase(t)).url)
    const nats = await startNats(t)
    const away = await startApi(t, { DATABASE_URL: relay.url, NATS_URL: nats.url })
    const { body } = await away.call('POST', '/monitors', { body: HEARTBEAT })
    const url = `${away.origin}/ping/${body.data.ping_url.split('/').at(-1)}`
    t.equal((await ping(url)).status, 200)
    await Promise.all([relay.cut(), nats.kill9()])
    const refused = await ping(url)
    t.match(refused, { status: 503, text: /send it again/ })
    t.notMatch(refused.text, /postgres|nats|ECONN|127/i)
  },
)
