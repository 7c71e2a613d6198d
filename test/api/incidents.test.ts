import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import {
  openAutomaticIncidents,
  resolveAutomaticIncidents,
} from '../../control-plane/verdict/incidents/automatic-actions.ts'
import { unwrapAnswer } from '../support/client.ts'
import { createIncidentApi } from '../support/incidents.ts'
import type { Account } from '../support/resource-api.ts'
import { insertMonitor } from '../support/verdict.ts'

const { api } = await createIncidentApi(t)
const startedAt = new Date('2026-08-01T12:00:00.000Z')
const endedAt = new Date('2026-08-01T12:04:12.000Z')

/** An outage of a new monitor, which has ended if `isOver`. */
async function insertOutage({ projectId }: Account, name: string, isOver = false) {
  const monitorId = await insertMonitor(api.db, projectId, { name })
  const outage = { projectId, monitorId, monitorName: name, startedAt }
  const resolution = { monitorId, at: endedAt, message: 'It is over.' }
  const { incidents } = await api.db.transaction(async tx => {
    const opened = await openAutomaticIncidents(tx, [outage], api.publicUrl, startedAt)
    if (isOver) await resolveAutomaticIncidents(tx, [resolution], api.publicUrl, endedAt)
    return opened
  })
  return { id: incidents[0]!.id, monitorId }
}

t.test('GET /incidents 200 lists incidents newest first, in pages, with all fields', async t => {
  const account = await api.account()
  const over = await insertOutage(account, 'Shop', true)
  const open = await insertOutage(account, 'Blog')
  const { status, body } = await account.call('GET /incidents')
  t.equal(status, 200)
  t.same(body.meta, { page: 1, per_page: 25, total: 2, total_pages: 1 })
  t.same(
    body.data.map(({ id }: { id: string }) => id),
    [open.id, over.id],
  )
  t.same(body.data[1], {
    id: over.id,
    title: 'Shop is down',
    severity: 'major',
    status: 'resolved',
    message: 'It is over.',
    source: 'automatic',
    caused_by_monitor_id: null,
    monitor_ids: [over.monitorId],
    monitors: [{ id: over.monitorId, name: 'Shop', status: null }],
    started_at: '2026-08-01T12:00:00.000Z',
    resolved_at: '2026-08-01T12:04:12.000Z',
    acknowledged_at: null,
    acknowledged_by: null,
    postmortem: null,
    postmortem_published_at: null,
    created_at: '2026-08-01T12:00:00.000Z',
    updated_at: '2026-08-01T12:04:12.000Z',
  })
  const second = await unwrapAnswer(account.picket.listIncidents({ query: { page: 2, per_page: 1 } }))
  t.same(
    second.data.map(({ id }) => id),
    [over.id],
  )
  t.same(second.meta, { page: 2, per_page: 1, total: 2, total_pages: 2 })
})

t.test('GET /incidents 200 with filters of one or more values', async t => {
  const account = await api.account()
  await insertOutage(account, 'Shop', true)
  await insertOutage(account, 'Blog')
  const titles = async (filter: string) => {
    const { data } = await unwrapAnswer(
      account.picket.listIncidents({ query: Object.fromEntries(new URLSearchParams(filter)) }),
    )
    return data.map(({ title }) => title)
  }
  t.same(await titles('status=resolved'), ['Shop is down'])
  t.same(await titles('status=investigating,resolved'), ['Blog is down', 'Shop is down'])
  t.same(await titles('severity=minor,critical'), [])
  t.same(await titles('severity=major&status=investigating'), ['Blog is down'])
})

t.test('GET /incidents 400 for an invalid status, severity or page', async t => {
  const { call } = await api.account()
  for (const query of ['status=open', 'status=', 'severity=major,huge', 'page=0', 'per_page=101', 'color=red']) {
    const { status, body } = await call(`GET /incidents?${query}`)
    t.equal(status, 400, query)
    t.equal(body.error.code, 'validation_error')
  }
})

t.test('GET /incidents/{id} 200 and 404', async t => {
  const account = await api.account()
  const other = await api.account()
  const mine = await insertOutage(account, 'Shop')
  const theirs = await insertOutage(other, 'Theirs')
  t.match(await account.call(`GET /incidents/${mine.id}`), { status: 200, body: { data: { title: 'Shop is down' } } })
  for (const id of [theirs.id, 'not-an-id', '0190a0a0-0000-7000-8000-000000000000']) {
    t.match(await account.call(`GET /incidents/${id}`), { status: 404, body: { error: { code: 'not_found' } } }, id)
  }
  t.same((await account.call('GET /incidents')).body.data.length, 1)
})

t.test('A monitor that is down has one open incident, however often the verdict opens it', async t => {
  const account = await api.account()
  const { projectId } = account
  const { id, monitorId } = await insertOutage(account, 'Shop')
  const again = await api.db.transaction(tx =>
    openAutomaticIncidents(
      tx,
      [{ projectId, monitorId, monitorName: 'Shop', startedAt: endedAt }],
      api.publicUrl,
      endedAt,
    ),
  )
  t.match(again, { incidents: [{ id, started_at: startedAt }], events: [] })
  t.equal((await account.call('GET /incidents')).body.meta.total, 1)
})

t.test('GET /incidents 200 filters by monitor, start and title; 404 for a monitor of another tenant', async t => {
  const account = await api.account()
  const shop = await insertOutage(account, 'Shop', true)
  const blog = await insertOutage(account, '100% Blog')
  await execute(api.db, `UPDATE incidents SET started_at = '2026-09-01T00:00:00Z' WHERE id = ?`, [blog.id])
  const ids = async (filter: string) => {
    const { status, body } = await account.call(`GET /incidents?${filter}`)
    t.equal(status, 200, filter)
    t.equal(body.meta.total, body.data.length, `${filter}: the total`)
    return body.data.map(({ id }: { id: string }) => id)
  }
  t.same(await ids(`monitor_id=${shop.monitorId}`), [shop.id])
  t.same(await ids('from=2026-08-15T00:00:00Z'), [blog.id])
  t.same(await ids('from=2026-08-01T12:00:00Z&to=2026-09-01T00:00:00Z'), [shop.id], 'from is included, to is not')
  t.same(await ids('q=BLOG'), [blog.id])
  t.same(await ids('q=%25'), [blog.id], 'a percent sign is a character')
  t.same(await ids(`q=down&monitor_id=${blog.monitorId}&status=investigating`), [blog.id])
  t.same(await ids('q=nothing'), [])
  const theirs = await insertOutage(await api.account(), 'Theirs')
  for (const id of [theirs.monitorId, 'nope', '0190a0a0-0000-7000-8000-000000000000']) {
    t.equal((await account.call(`GET /incidents?monitor_id=${id}`)).status, 404, id)
  }
  t.equal((await account.call('GET /incidents?from=yesterday')).status, 400)
})
