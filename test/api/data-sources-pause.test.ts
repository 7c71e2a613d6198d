import t from 'tap'
import { up } from '../../control-plane/foundation/migrations/postgres/0077-status-of-paused-sources.ts'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { startTarget } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'

const api = await startApi(t, { EGRESS_ALLOW: '127.0.0.0/8', ROLES: 'api,schedule' })
const target = await startTarget(t)
const account = await api.tenant()
const call = (method: string, path: string, body?: object) =>
  api.call(method, path, { key: account.key, ...(body && { body }) })
const serve = (document: unknown) => target.behave({ kind: 'answer', body: JSON.stringify(document) })
const SERVICES = { path: 'services.*', name_template: '{{key}}', rule_type: 'truthy', rule_config: {} }

async function create(more: object = {}) {
  const made = await call('POST', '/data-sources', { name: 'Health', url: target.url, fields: [SERVICES], ...more })
  const path = `/data-sources/${made.body.data.id}`
  const read = async () => (await call('GET', path)).body.data
  const fetched = (since: string | null = null) =>
    waitFor(async () => {
      const source = await read()
      return source.last_fetched_at !== since ? source : null
    })
  return { id: made.body.data.id as string, path, read, fetched }
}

t.test('PUT /data-sources/:id 200 pauses a source: it is not fetched, and its monitors have no status', async t => {
  serve({ services: { web: true } })
  const { id, path, read, fetched } = await create()
  const before = await fetched()
  const child = before.fields[0].child_monitors[0].monitor_id
  const monitor = async () => (await call('GET', `/monitors/${child}`)).body.data
  t.match(await monitor(), { status: 'up', configuration_issues: [] })
  t.equal((await call('PUT', path, { is_paused: true })).status, 200)
  t.match(await read(), { is_paused: true, next_fetch_at: null, last_fetched_at: before.last_fetched_at })
  t.match(await monitor(), { status: null, configuration_issues: [/^data_source_paused: /] })
  const transitions = (await call('GET', `/monitors/${child}/transitions`)).body.data
  t.match(transitions[0], { from: 'up', to: null, summary: 'The data source is paused.' })
  const issues = (await call('GET', '/monitors?issue=true')).body.data
  t.same(
    issues.map((one: { id: string }) => one.id),
    [child],
  )

  serve({ services: { web: false } })
  await execute(api.db, 'UPDATE data_sources SET next_fetch_at = now() WHERE id = ?', [id])
  const other = await create({ name: 'Other' })
  await other.fetched()
  t.match(
    await read(),
    { last_fetched_at: before.last_fetched_at },
    'the worker fetched another source and not this one',
  )
  t.equal((await monitor()).status, null)

  t.equal((await call('PUT', path, { is_paused: false })).status, 200)
  await fetched(before.last_fetched_at)
  t.match(await monitor(), { status: 'down', configuration_issues: [] }, 'it is fetched when it is resumed')
})

t.test(
  'POST /data-sources 201 creates a paused source; POST /data-sources/:id/refresh 409 while it is paused',
  async t => {
    const { path, read, fetched } = await create({ is_paused: true })
    t.match(await call('POST', `${path}/refresh`), { status: 409, body: { error: { message: /is paused/ } } })
    t.match(await read(), { is_paused: true, last_fetched_at: null, next_fetch_at: null })
    await call('PUT', path, { is_paused: false })
    await fetched()
    t.equal((await call('POST', `${path}/refresh`)).status, 200)
  },
)

t.test('An outage stays open while its data source is paused, and the next fetch goes on from there', async t => {
  serve({ services: { web: true, mail: true } })
  const { path, read, fetched } = await create({ name: 'Paused in an outage' })
  const first = await fetched()
  const monitors: { key: string; monitor_id: string }[] = first.fields[0].child_monitors
  const findId = (key: string) => monitors.find(one => one.key === key)!.monitor_id
  const refetch = async (document: object) => {
    serve(document)
    const before = (await read()).last_fetched_at
    await call('POST', `${path}/refresh`)
    await fetched(before)
  }
  const statuses = async () =>
    Promise.all(['web', 'mail'].map(async key => (await call('GET', `/monitors/${findId(key)}`)).body.data.status))
  const incidents = async () =>
    Promise.all(
      ['web', 'mail'].map(
        async key => (await call('GET', `/incidents?monitor_id=${findId(key)}`)).body.data[0]?.resolved_at ?? 'open',
      ),
    )
  await refetch({ services: { web: false, mail: false } })
  t.same(await statuses(), ['down', 'down'])

  await call('PUT', path, { is_paused: true })
  t.same(await statuses(), [null, null])
  t.same(await incidents(), ['open', 'open'])
  const paused = (await read()).last_fetched_at
  serve({ services: { web: false, mail: true } })
  await call('PUT', path, { is_paused: false })
  await fetched(paused)
  t.same(await statuses(), ['down', 'up'])
  const [web, mail] = await incidents()
  t.equal(web, 'open')
  t.not(mail, 'open', 'the end of an outage in the pause is noticed')
  const events = await query<{ name: string }>(api.db, `SELECT name FROM events WHERE subject = 'monitor:' || ?`, [
    findId('web'),
  ])
  t.same(events, [{ name: 'monitor.down' }], 'the same outage is announced once')
})

t.test('Monitors of sources that were paused before have no status after the migration', async t => {
  serve({ services: { web: true } })
  const { id, path, fetched } = await create({ name: 'Paused by an older version' })
  const child = (await fetched()).fields[0].child_monitors[0].monitor_id
  // as an older version paused it
  await execute(api.db, 'UPDATE data_sources SET is_paused = true, revision = revision + 1 WHERE id = ?', [id])
  await up(api.db)
  await up(api.db)
  t.equal((await call('GET', `/monitors/${child}`)).body.data.status, null)
  const transitions = (await call('GET', `/monitors/${child}/transitions`)).body.data
  t.match(transitions, [{ from: 'up', to: null, summary: 'The data source is paused.' }, { to: 'up' }])
  await call('PUT', path, { is_paused: false })
  await waitFor(async () => (await call('GET', `/monitors/${child}`)).body.data.status === 'up')
})

t.test('A pause resolves the incident about failed fetches', async t => {
  target.behave({ kind: 'answer', status: 500 })
  const { id, path, read } = await create()
  await waitFor(async () => {
    await call('POST', `${path}/refresh`)
    const [row] = await query<{ id: string | null }>(
      api.db,
      'SELECT incident_id AS id FROM data_sources WHERE id = ?',
      [id],
    )
    return row!.id
  })
  const incidents = async () => (await call('GET', '/incidents')).body.data
  t.match(await incidents(), [{ title: 'Data source Health cannot be fetched', status: 'investigating' }])
  t.equal((await call('PUT', path, { is_paused: true })).status, 200)
  t.match(await incidents(), [{ status: 'resolved' }])
  t.match(await read(), { consecutive_failures: 0 })
})

t.test('GET /monitors 200: the last check of a monitor is the last fetch of its source, however long ago', async t => {
  serve({ services: { web: true, mail: true } })
  const { id, fetched } = await create({ name: 'Daily' })
  const { fields } = await fetched()
  const [web, mail] = fields[0].child_monitors.map((one: { monitor_id: string }) => one.monitor_id)
  t.equal((await call('POST', `/monitors/${mail}/pause`)).status, 200)
  await execute(
    api.db,
    `UPDATE data_sources SET next_fetch_at = now() + interval '1 day', last_fetched_at = '2026-01-02T03:04:05Z' WHERE id = ?`,
    [id],
  )
  const at = '2026-01-02T03:04:05.000Z'
  t.equal((await call('GET', `/monitors/${web}`)).body.data.last_checked_at, at)
  const listed: { id: string; last_checked_at: string | null }[] = (await call('GET', '/monitors')).body.data
  t.equal(listed.find(one => one.id === web)?.last_checked_at, at)
  t.not(listed.find(one => one.id === mail)?.last_checked_at, at, 'a paused monitor was not checked by that fetch')
})
