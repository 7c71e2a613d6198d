import t from 'tap'
import { alertLogRoutes } from '../../control-plane/alerting/deliveries/log/routes.ts'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { listStatusTimes } from '../../control-plane/insight/analytics/uptime/status-time-store.ts'
import { insertTransitions, listTransitions, type TransitionRow } from '../../control-plane/verdict/core/store.ts'
import {
  createAgedDeliveryId,
  createAgedId,
  daysAgo,
  deleteMonitorAt,
  insertDelivery,
  insertEvent,
  insertIncident,
  insertIncidentMonitor,
  insertRow,
  insertTransition,
  listKept,
  runRetentionRound,
} from '../support/aged.ts'
import { createResourceApi } from '../support/resource-api.ts'
import { insertTenant, type Tenant } from '../support/tenant.ts'
import { insertChannel, insertMonitor } from '../support/verdict.ts'

const api = await createResourceApi(t, (app, handles) => alertLogRoutes(app, { ...handles, retentionDays: 30 }))
const { db } = api

async function scene(tenant?: Tenant) {
  tenant ??= await insertTenant(db)
  const { projectId } = tenant
  const monitorId = await insertMonitor(db, projectId)
  const channelId = await insertChannel(db, projectId, [monitorId])
  const eventId = await insertEvent(db, projectId, 1)
  return { ...tenant, projectId, monitorId, channelId, eventId }
}

t.test('Deliveries are deleted 30 days after their end, except those that are tried or replayed', async t => {
  const at = await scene()
  const ids = {
    younger: await insertDelivery(db, at, 29),
    older: await insertDelivery(db, at, 31),
    failed: await insertDelivery(db, at, 31, { status: 'failed' }),
    dead: await insertDelivery(db, at, 31, { status: 'dead' }),
    pending: await insertDelivery(db, at, 31, { status: 'pending' }),
    replayed: await insertDelivery(db, at, 31, { updated_at: daysAgo(1) }),
    withButton: await insertDelivery(db, at, 31, { chat_message: '{}' }),
    withOldButton: await insertDelivery(db, at, 95, { chat_message: '{}' }),
  }
  const rows = await runRetentionRound(db)
  t.same(await listKept(db, 'deliveries', ids), ['younger', 'pending', 'replayed', 'withButton'])
  t.equal(await rows('deliveries'), 4)
})

t.test('A deleted delivery cannot be replayed, and the error gives the reason', async t => {
  const account = await api.account()
  const id = await insertDelivery(db, await scene(account), 31)
  t.equal((await account.call(`GET /alerts/log/${id}`)).status, 200)
  await runRetentionRound(db)
  const gone = { code: 'not_found', message: 'log entry not found; deliveries are kept for 30 days after their end' }
  t.match(await account.call(`POST /alerts/log/${id}/retry`), { status: 404, body: { error: gone } })
  t.match(await account.call(`GET /alerts/log/${id}`), { status: 404, body: { error: gone } })
  const never = await account.call(`GET /alerts/log/${createAgedDeliveryId(2)}`)
  t.match(never, { status: 404, body: { error: { message: /^log entry not found$/ } } })
})

t.test(
  'Events are deleted after 90 days, except those that a delivery, an outage or a withheld alert needs',
  async t => {
    const at = await scene()
    const { projectId, monitorId } = at
    const event = (days: number, row = {}) => insertEvent(db, projectId, days, row)
    const open = { source: 'automatic', status: 'investigating', resolved_at: null, cause_monitor_id: monitorId }
    await insertIncident(db, projectId, 95, open)
    const silenced = await insertMonitor(db, projectId)
    const ended = await insertIncident(db, projectId, 89, { source: 'automatic', cause_monitor_id: silenced })
    const ids = {
      younger: await event(89),
      older: await event(91),
      delivered: await event(91),
      pending: await event(91),
      fanningOut: await event(91),
      ofOpenOutage: await event(91, { name: 'monitor.down', subject: `monitor:${monitorId}` }),
      withheldUp: await event(91, { name: 'monitor.up', subject: `monitor:${silenced}` }),
      withheldEnd: await event(91, { name: 'incident.resolved', subject: `incident:${ended}` }),
      notWithheld: await event(91, { name: 'monitor.up', subject: `monitor:${silenced}` }),
      ofVendor: await event(91, { name: 'vendor.down', subject: `vendor:${projectId}` }),
      ofEndedOutage: await event(91, {
        name: 'monitor.down',
        subject: `monitor:${await insertMonitor(db, projectId)}`,
      }),
    }
    await insertDelivery(db, { ...at, eventId: ids.delivered }, 91)
    await insertDelivery(db, { ...at, eventId: ids.pending }, 91, { status: 'pending' })
    await insertRow(db, 'fan_outs', { project_id: projectId, event_id: ids.fanningOut })
    const withheld = {
      told: 'down',
      outage: 'none',
      ended: { eventIds: [ids.withheldUp, ids.withheldEnd] },
      began: null,
    }
    await insertRow(db, 'silences', {
      ...{ monitor_id: silenced, reason: 'silenced', is_parent_down: false, is_asked: false, is_answered: false },
      ...{ withheld: JSON.stringify(withheld), due_at: new Date() },
    })
    await runRetentionRound(db)
    const kept = ['younger', 'pending', 'fanningOut', 'ofOpenOutage', 'withheldUp', 'withheldEnd']
    t.same(await listKept(db, 'events', ids), kept)
  },
)

t.test('A transition keeps its explanation for 400 days and its summary for 800', async t => {
  const { projectId, monitorId } = await scene()
  const ids = {
    first: await insertTransition(db, projectId, monitorId, 900, 'down'),
    lastBefore: await insertTransition(db, projectId, monitorId, 850, 'up'),
    unexplained: await insertTransition(db, projectId, monitorId, 401, 'down'),
    explained: await insertTransition(db, projectId, monitorId, 399, 'up'),
  }
  await runRetentionRound(db)
  t.same(await listKept(db, 'transitions', ids), ['lastBefore', 'unexplained', 'explained'])
  const { transitions } = await listTransitions(db, projectId, monitorId, { limit: 10, offset: 0 })
  t.same(
    transitions.map(({ summary, explanation }) => [summary, explanation]),
    [
      ['why', { votes: [] }],
      ['why', {}],
      ['why', {}],
    ],
  )
})

t.test('An explanation is stored compressed and returned unchanged', async t => {
  const { projectId, monitorId } = await scene()
  const votes = ['us-east', 'eu-west', 'ap-southeast'].flatMap(region =>
    [1, 2, 3].map(attempt => ({
      region,
      attempt,
      code: 'unexpected_status',
      message: 'the target answered 503',
      attempt_ms: 41,
    })),
  )
  const explanation = { votes } as never
  const row = {
    id: createAgedId(0),
    project_id: projectId,
    monitor_id: monitorId,
    at: new Date(),
    summary: 'why',
    explanation,
  }
  const rows: TransitionRow[] = [{ ...row, from_status: 'up', to_status: 'down', quorum: 'full' }]
  await db.transaction(tx => insertTransitions(tx, rows, new Date()))
  const [stored] = await query<{ bytes: number }>(
    db,
    'SELECT pg_column_size(explanation) AS bytes FROM transitions WHERE id = ?',
    [row.id],
  )
  const length = JSON.stringify(explanation).length
  t.ok(length > 1_000 && length < 2_000, `${length}`)
  t.ok(stored!.bytes < length / 2, `${stored!.bytes} bytes of ${length}`)
  const { transitions } = await listTransitions(db, projectId, monitorId, { limit: 10, offset: 0 })
  t.same(transitions[0]!.explanation, explanation)
})

t.test('The last transition before the limit gives the status at the beginning of the history', async t => {
  const { projectId, monitorId } = await scene()
  await insertTransition(db, projectId, monitorId, 1_000, 'up')
  const ids = {
    down: await insertTransition(db, projectId, monitorId, 900, 'down'),
    up: await insertTransition(db, projectId, monitorId, 790, 'up'),
  }
  const shown = () => listStatusTimes(db, [monitorId], { from: daysAgo(800), now: new Date(), stepMs: 86_400_000 })
  const sums = (rows: Awaited<ReturnType<typeof shown>>) => {
    const days = { down: 0, up: 0 }
    for (const row of rows) if (row.status) days[row.status as 'down' | 'up'] += row.seconds / 86_400
    return [Math.round(days.down), Math.round(days.up)]
  }
  t.same(sums(await shown()), [10, 790])
  await runRetentionRound(db)
  t.same(await listKept(db, 'transitions', ids), ['down', 'up'])
  t.same(sums(await shown()), [10, 790])
})

t.test('Incidents are deleted 800 days after their end with their updates; open ones are not', async t => {
  const { projectId, monitorId } = await scene()
  const ids = {
    younger: await insertIncident(db, projectId, 799),
    older: await insertIncident(db, projectId, 801),
    endedLater: await insertIncident(db, projectId, 900, { resolved_at: daysAgo(700) }),
    open: await insertIncident(db, projectId, 900, { status: 'investigating', resolved_at: null }),
  }
  for (const id of Object.values(ids)) await insertIncidentMonitor(db, id, monitorId)
  await runRetentionRound(db)
  t.same(await listKept(db, 'incidents', ids), ['younger', 'endedLater', 'open'])
  for (const table of ['incident_updates', 'incident_monitors']) {
    const sql = `SELECT count(*) FROM ${table} WHERE incident_id = ANY (CAST(:ids AS uuid[]))`
    t.same(await query(db, sql, { ids: Object.values(ids) }), [{ count: 3 }])
  }
})

t.test('Past maintenance is deleted with its history; a recurring window stays', async t => {
  const { projectId, monitorId } = await scene()
  const window = async (ended: number, row = {}) => {
    const times = { starts_at: daysAgo(ended + 1), ends_at: daysAgo(ended) }
    const known = { project_id: projectId, title: 'Move', created_at: daysAgo(900), updated_at: daysAgo(900) }
    const id = await insertRow(db, 'maintenance_windows', { id: createAgedId(900), ...known, ...times, ...row })
    const period = { window_id: id, project_id: projectId, monitor_id: monitorId }
    await insertRow(db, 'maintenance_periods', { ...period, ...times })
    return id
  }
  const recurring = { cron: '0 3 * * *', ends_at: null, planned_at: new Date() }
  const ids = { younger: await window(799), older: await window(801), recurring: await window(802, recurring) }
  await runRetentionRound(db)
  t.same(await listKept(db, 'maintenance_windows', ids), ['younger', 'recurring'])
  const sql = 'SELECT window_id AS id FROM maintenance_periods WHERE project_id = ?'
  t.same(await query(db, sql, [projectId]), [{ id: ids.younger }])
})

t.test('Silences are deleted after 800 days since their end', async t => {
  const { projectId, monitorId } = await scene()
  const silence = async (ended: number) => {
    const times = { created_at: daysAgo(900), ends_at: daysAgo(ended) }
    const id = await insertRow(db, 'alert_silences', { id: createAgedId(900), project_id: projectId, ...times })
    await insertRow(db, 'alert_silence_monitors', { silence_id: id, monitor_id: monitorId })
    return id
  }
  const ids = { younger: await silence(799), older: await silence(801) }
  await runRetentionRound(db)
  t.same(await listKept(db, 'alert_silences', ids), ['younger'])
  const sql = 'SELECT silence_id AS id FROM alert_silence_monitors WHERE monitor_id = ?'
  t.same(await query(db, sql, [monitorId]), [{ id: ids.younger }])
})

t.test('A deleted monitor is removed after 30 days with its history, unless something shows it', async t => {
  const { projectId } = await scene()
  const deleted = async (days: number) => {
    const id = await insertMonitor(db, projectId)
    await insertTransition(db, projectId, id, 40, 'down')
    await insertTransition(db, projectId, id, 39, 'up')
    await deleteMonitorAt(db, id, days)
    return id
  }
  const ids = {
    living: await insertMonitor(db, projectId),
    younger: await deleted(29),
    older: await deleted(31),
    onPage: await deleted(31),
    ofPeoplesIncident: await deleted(31),
    ofDataSource: await deleted(31),
  }
  const ended = await insertIncident(db, projectId, 40, { cause_monitor_id: ids.older })
  await insertIncidentMonitor(db, ended, ids.older)
  const manual = await insertIncident(db, projectId, 40, { source: 'manual' })
  await insertIncidentMonitor(db, manual, ids.ofPeoplesIncident)
  const stamps = { created_at: daysAgo(40), updated_at: daysAgo(40) }
  const page = { project_id: projectId, name: 'Acme', slug: createAgedId(40), template: 'plain', brand_color: '#000' }
  const pageId = await insertRow(db, 'status_pages', { id: createAgedId(40), ...page, ...stamps })
  const component = { page_id: pageId, name: 'Shop', monitor_id: ids.onPage, display_order: 1, status: 'unknown' }
  await insertRow(db, 'status_page_components', { id: createAgedId(40), ...component, ...stamps })
  const source = { name: 'Feed', url: 'https://a.example', method: 'GET', fetch_interval_s: 60, timeout_ms: 1_000 }
  const own = { id: createAgedId(40), project_id: projectId, next_fetch_at: new Date(), ...source, ...stamps }
  const sourceId = await insertRow(db, 'data_sources', own)
  const child = { data_source_id: sourceId, key: 'a', made_name: 'a', archived_at: daysAgo(31) }
  await insertRow(db, 'data_source_children', { monitor_id: ids.ofDataSource, ...child })
  await runRetentionRound(db)
  t.same(await listKept(db, 'monitors', ids), ['living', 'younger', 'onPage', 'ofPeoplesIncident', 'ofDataSource'])
  t.same(await query(db, 'SELECT id FROM transitions WHERE monitor_id = ?', [ids.older]), [])
  t.same(await query(db, 'SELECT cause_monitor_id AS cause FROM incidents WHERE id = ?', [ended]), [{ cause: null }])
  t.same(await query(db, 'SELECT monitor_id AS id FROM incident_monitors WHERE incident_id = ?', [manual]), [
    { id: ids.ofPeoplesIncident },
  ])
})

t.test('A deleted organization is removed after 30 days, when nothing of it is left', async t => {
  const gone = await scene()
  const young = await scene()
  const busy = await scene()
  const ids = { gone: gone.organizationId, young: young.organizationId, busy: busy.organizationId }
  for (const { projectId } of [gone, young]) await execute(db, 'DELETE FROM monitors WHERE project_id = ?', [projectId])
  const sql = 'UPDATE organizations SET deleted_at = ?, emptied_at = now() WHERE id = ?'
  for (const [id, days] of [
    [ids.gone, 31],
    [ids.young, 29],
    [ids.busy, 31],
  ] as const) {
    await execute(db, sql, [daysAgo(days), id])
  }
  await runRetentionRound(db)
  t.same(await listKept(db, 'organizations', ids), ['young', 'busy'], 'the monitor of one is not deleted yet')
  t.same(await query(db, 'SELECT id FROM projects WHERE id = ?', [gone.projectId]), [])
})

t.test('Closed digests, old warnings, and old probes and tokens are deleted', async t => {
  const at = await scene()
  const { projectId, channelId, monitorId } = at
  const digest = (days: number, closed: boolean, deliveryId: string | null = null) =>
    insertRow(db, 'digests', {
      id: createAgedId(days),
      project_id: projectId,
      channel_id: channelId,
      due_at: daysAgo(days),
      closed_at: closed ? daysAgo(days) : null,
      delivery_id: deliveryId,
    })
  const token = (days: number, row = {}) =>
    insertRow(db, 'probe_tokens', {
      id: createAgedId(days),
      region: 'us-east',
      token_hash: Buffer.from(createAgedId(days)),
      created_at: daysAgo(days),
      is_reusable: false,
      expires_at: daysAgo(days - 7),
      ...row,
    })
  const probe = async (tokenId: string, seen: number, row = {}) =>
    insertRow(db, 'probes', {
      id: createAgedId(200),
      token_id: tokenId,
      region: 'us-east',
      name: 'p',
      instance_id: 'i',
      version: '1',
      capabilities: '{}',
      last_seen_at: daysAgo(seen),
      created_at: daysAgo(200),
      ...row,
    })
  const [logged, gone] = [await insertDelivery(db, at, 29), await insertDelivery(db, at, 31)]
  const digests = {
    younger: await digest(29, true),
    older: await digest(31, true),
    open: await digest(32, false),
    logged: await digest(31, true, logged),
    gone: await digest(32, true, gone),
  }
  const tokens = {
    usedByGone: await token(200),
    usedByLiving: await token(200),
    unused: await token(200),
    reusable: await token(200, { is_reusable: true, expires_at: null }),
    revoked: await token(200, { is_reusable: true, expires_at: null, revoked_at: daysAgo(190) }),
  }
  const probes = {
    gone: await probe(tokens.usedByGone, 181),
    living: await probe(tokens.usedByLiving, 179),
    // it could enrol again with its token
    revoked: await probe(tokens.reusable, 190, { revoked_at: daysAgo(190) }),
    revokedWithToken: await probe(tokens.revoked, 190, { revoked_at: daysAgo(190) }),
  }
  for (const days of [799, 801]) {
    const warning = { monitor_id: monitorId, kind: 'tls', identity: `${days}`, warned_days: 30 }
    await insertRow(db, 'expiry_warnings', { ...warning, warned_at: daysAgo(days) })
  }
  await runRetentionRound(db)
  t.same(await listKept(db, 'digests', digests), ['younger', 'open', 'logged'])
  t.same(await listKept(db, 'probes', probes), ['living', 'revoked'])
  t.same(await listKept(db, 'probe_tokens', tokens), ['usedByLiving', 'reusable'])
  t.same(await query(db, 'SELECT identity FROM expiry_warnings'), [{ identity: '799' }])
})

t.test('The settings determine how long rows are kept', async t => {
  const at = await scene()
  const ids = { twoDays: await insertDelivery(db, at, 2), fourDays: await insertDelivery(db, at, 4) }
  await runRetentionRound(db, { deliveries: 3 })
  t.same(await listKept(db, 'deliveries', ids), ['twoDays'])
})
