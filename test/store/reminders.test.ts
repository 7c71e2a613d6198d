import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { DEFAULT_LIMITS } from '../../control-plane/accounts/plans/plans.ts'
import { closeDueDigests } from '../../control-plane/alerting/routing/digests/actions.ts'
import { sendDueReminders } from '../../control-plane/alerting/routing/reminders/actions.ts'
import { startReminderWorker } from '../../control-plane/alerting/routing/reminders/worker.ts'
import { changeRule } from '../../control-plane/alerting/routing/rules/rule-actions.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { changeIncident } from '../../control-plane/verdict/incidents/api/actions.ts'
import type { IncidentStatus } from '../../control-plane/verdict/incidents/lifecycle.ts'
import { createSilence } from '../../control-plane/verdict/silences/actions.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createDatabase } from '../support/database.ts'
import { keepOpen, openTransaction } from '../support/open-transaction.ts'
import { type StoredReader, storeReader } from '../support/partitions.ts'
import { insertSubscribedChannel, listLoggedDeliveries, publishChanges } from '../support/publishing.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

const at = (minutes: number) => new Date(Date.parse('2026-11-21T12:00:00Z') + minutes * 60_000)
const remind = (minutes: number) => sendDueReminders(db, 200, at(minutes))

/** Monitors with one channel, whose rules remind every 30 minutes; `fail` and `recover` do what the verdict does. */
async function scene({ count = 1, every = 30 as number | null, type = 'webhook' as 'webhook' | 'chat_a' } = {}) {
  const tenant = await insertTenant(db)
  const ids = await insertMonitors(db, tenant.projectId, count)
  const channelId = await insertSubscribedChannel(db, tenant, ids, type)
  await execute(db, 'UPDATE alert_rules SET remind_every_minutes = ? WHERE alert_channel_id = ?', [every, channelId])
  const setStatus = (status: string) => execute(db, 'UPDATE monitors SET status = ? WHERE id = ANY (?)', [status, ids])
  return {
    tenant,
    ids,
    channelId,
    async fail(minutes: number) {
      await setStatus('down')
      const changes = ids.map(monitorId => {
        const incident = { id: uuidv7(), title: 'Shop is down', status: 'investigating', severity: 'major' }
        return { monitorId, status: 'down' as const, incident: { ...incident, started_at: at(minutes).toISOString() } }
      })
      for (const { monitorId, incident } of changes) await insertIncident(tenant.projectId, monitorId, incident)
      await publishChanges(db, tenant, changes, at(minutes))
    },
    async recover(minutes: number) {
      await setStatus('up')
      const set = 'UPDATE incidents SET resolved_at = :now WHERE cause_monitor_id = ANY (:ids) AND resolved_at IS NULL'
      await execute(db, set, { now: at(minutes), ids })
      const changes = ids.map(monitorId => ({ monitorId, status: 'up' as const }))
      await publishChanges(db, tenant, changes, at(minutes))
    },
    /** "DOWN 1 2 UP": the events of the channel, reminders by their number */
    async received() {
      const rows = await query<{ event: string; reminder: number | null }>(
        db,
        'SELECT event_name AS event, reminder FROM deliveries WHERE channel_id = ? ORDER BY seq',
        [channelId],
      )
      return rows.map(({ event, reminder }) => reminder ?? event.replace('monitor.', '').toUpperCase()).join(' ')
    },
    change: (body: Parameters<typeof changeRule>[3], minutes: number) =>
      changeOnlyRule(tenant.projectId, body, minutes),
  }
}

async function insertIncident(projectId: string, monitorId: string, incident: { id: string; started_at: string }) {
  await execute(
    db,
    `INSERT INTO incidents (id, project_id, title, severity, status, source, cause_monitor_id, started_at, created_at,
       updated_at)
     VALUES (:id, :projectId, 'Shop is down', 'major', 'investigating', 'automatic', :monitorId, :started_at, now(), now())`,
    { ...incident, projectId, monitorId },
  )
}

async function changeOnlyRule(projectId: string, body: Parameters<typeof changeRule>[3], minutes: number) {
  const [rule] = await query<{ id: string }>(db, 'SELECT id FROM alert_rules WHERE project_id = ?', [projectId])
  return changeRule(db, projectId, rule!.id, body, 20, at(minutes))
}

t.test('A lasting outage is sent again every 30 minutes, with a number, and not after the recovery', async t => {
  const { fail, recover, received, channelId } = await scene()
  await fail(0)
  await remind(29.9)
  t.equal(await received(), 'DOWN')
  await remind(30)
  await remind(30)
  await remind(60)
  t.equal(await received(), 'DOWN 1 2')
  await recover(70)
  await remind(90)
  await remind(2_000)
  t.equal(await received(), 'DOWN 1 2 UP')
  const ids = (await listLoggedDeliveries(db, channelId)).map(one => one.id)
  t.equal(new Set(ids).size, 4, 'each with its own delivery')
  t.same(await query(db, 'SELECT FROM reminders'), [], 'nothing is left behind')
})

t.test('The next outage starts a new count; an outage that continues after degraded continues its count', async t => {
  const { fail, recover, received, ids, tenant } = await scene()
  await fail(0)
  await remind(30)
  await recover(40)
  await fail(50)
  await remind(79)
  await remind(80)
  t.equal(await received(), 'DOWN 1 UP DOWN 1')
  const [incident] = await query<{ id: string }>(db, 'SELECT id FROM incidents WHERE resolved_at IS NULL')
  const again = { id: incident!.id, title: '', status: '', severity: '', started_at: '' }
  await publishChanges(db, tenant, [{ monitorId: ids[0]!, status: 'down', incident: again }], at(90))
  await remind(110)
  await remind(120)
  t.equal(await received(), 'DOWN 1 UP DOWN 1 DOWN 2')
  await recover(121)
})

t.test('After the workers were stopped there is one reminder, not a backlog', async t => {
  const { fail, recover, received } = await scene()
  await fail(0)
  await remind(300)
  await remind(301)
  t.equal(await received(), 'DOWN 1')
  await remind(330)
  t.equal(await received(), 'DOWN 1 2')
  await recover(331)
})

const ENDS: [title: string, sql: string][] = [
  ['an acknowledged incident', `UPDATE incidents SET acknowledged_at = now() WHERE cause_monitor_id = ?`],
  ['an incident that a person resolved', `UPDATE incidents SET resolved_at = now() WHERE cause_monitor_id = ?`],
  ['a paused monitor', `UPDATE monitors SET is_paused = true WHERE id = ?`],
  ['a deleted monitor', `UPDATE monitors SET deleted_at = now() WHERE id = ?`],
  ['a deleted rule', `DELETE FROM alert_rules WHERE monitor_id = ?`],
  ['a rule that wants no outages any more', `UPDATE alert_rules SET on_down = false WHERE monitor_id = ?`],
]
for (const [title, sql] of ENDS) {
  t.test(`${title} ends the reminders`, async t => {
    const { fail, received, ids } = await scene()
    await fail(0)
    await remind(30)
    await execute(db, sql, [ids[0]!])
    await remind(60)
    t.equal(await received(), 'DOWN 1')
    t.same(await query(db, 'SELECT FROM reminders WHERE monitor_id = ?', ids), [], 'no row is left')
  })
}

for (const status of ['degraded', null]) {
  t.test(
    `Reminders wait while a monitor is ${status ?? 'without a status'} and go on when it is down again`,
    async t => {
      const { fail, recover, received, ids } = await scene()
      const setStatus = (value: string | null) =>
        execute(db, 'UPDATE monitors SET status = ? WHERE id = ?', [value, ids[0]!])
      await fail(0)
      await remind(30)
      await setStatus(status)
      await remind(60)
      await remind(90)
      t.equal(await received(), 'DOWN 1')
      await setStatus('down')
      await remind(119)
      t.equal(await received(), 'DOWN 1', 'in the old rhythm')
      await remind(120)
      t.equal(await received(), 'DOWN 1 2')
      await recover(121)
      await remind(150)
      t.equal(await received(), 'DOWN 1 2 UP')
      t.same(await query(db, 'SELECT FROM reminders WHERE monitor_id = ?', ids), [])
    },
  )
}

t.test('An outage that is sent again after degraded has one reminder, an interval later', async t => {
  const { fail, recover, received, ids, tenant } = await scene()
  await fail(0)
  await execute(db, `UPDATE monitors SET status = 'degraded' WHERE id = ?`, ids)
  await remind(30)
  await execute(db, `UPDATE monitors SET status = 'down' WHERE id = ?`, ids)
  const [incident] = await query<{ id: string }>(db, 'SELECT id FROM incidents WHERE cause_monitor_id = ?', ids)
  const again = { id: incident!.id, title: '', status: '', severity: '', started_at: '' }
  await publishChanges(db, tenant, [{ monitorId: ids[0]!, status: 'down', incident: again }], at(40))
  await remind(60)
  t.equal(await received(), 'DOWN DOWN')
  await remind(70)
  await remind(70)
  t.equal(await received(), 'DOWN DOWN 1')
  await recover(71)
  await remind(100)
})

t.test('The reminders of a suppressed monitor are deferred', async t => {
  const { fail, recover, received, ids, tenant } = await scene()
  await fail(0)
  await execute(
    db,
    `INSERT INTO maintenance_periods (project_id, monitor_id, window_id, starts_at, ends_at) VALUES (?, ?, ?, ?, ?)`,
    [tenant.projectId, ids[0]!, uuidv7(), at(20), at(70)],
  )
  await remind(30)
  await remind(60)
  t.equal(await received(), 'DOWN')
  await remind(90)
  t.equal(await received(), 'DOWN 1')
  await recover(91)
})

t.test('The reminders of a silenced monitor are deferred', async t => {
  const { fail, recover, received, ids, tenant } = await scene()
  await fail(0)
  const silence = { monitor_ids: [ids[0]!], until: at(70).toISOString() }
  await createSilence(db, tenant.projectId, silence, at(20))
  await remind(30)
  await remind(60)
  t.equal(await received(), 'DOWN')
  await remind(90)
  t.equal(await received(), 'DOWN 1')
  await recover(91)
})

t.test('A change of a rule during an outage starts or ends its reminders', async t => {
  const { fail, recover, received, change } = await scene({ every: null })
  await fail(0)
  await remind(100)
  t.equal(await received(), 'DOWN')
  await change({ remind_every_minutes: 10 }, 100)
  await change({ on_recovery: true }, 105)
  await remind(109)
  await remind(110)
  t.equal(await received(), 'DOWN 1')
  await change({ remind_every_minutes: 60 }, 115)
  await remind(120)
  await remind(175)
  t.equal(await received(), 'DOWN 1 2', 'counted on')
  await change({ remind_every_minutes: null }, 180)
  await remind(1_000)
  t.equal(await received(), 'DOWN 1 2')
  await recover(1_001)
  await change({ remind_every_minutes: 5 }, 1_002)
  await remind(2_000)
  t.equal(await received(), 'DOWN 1 2 UP')
})

t.test('An incident that a person resolved by mistake and reopens reminds again', async t => {
  const { fail, received, tenant, ids } = await scene()
  await fail(0)
  await execute(
    db,
    `INSERT INTO verdict_states (monitor_id, partition, state, updated_at) VALUES (?, 0, '{"outageSinceMs": 1}', now())`,
    [ids[0]!],
  )
  const [incident] = await query<{ id: string }>(db, 'SELECT id FROM incidents WHERE cause_monitor_id = ?', ids)
  const set = (status: IncidentStatus, minutes: number) =>
    changeIncident(
      { db, publicUrl: 'https://picket.test', limits: DEFAULT_LIMITS },
      { projectId: tenant.projectId, userId: null },
      incident!.id,
      { status },
      at(minutes),
    )
  await set('resolved', 10)
  await remind(30)
  await set('investigating', 40)
  await remind(69)
  t.equal(await received(), 'DOWN')
  await remind(70)
  t.equal(await received(), 'DOWN 1')
})

t.test('A suppressed outage is not sent for the first time as a reminder', async t => {
  const { ids, tenant, received, change } = await scene({ every: null })
  await execute(db, `UPDATE monitors SET status = 'down' WHERE id = ?`, ids)
  await insertIncident(tenant.projectId, ids[0]!, { id: uuidv7(), started_at: at(0).toISOString() })
  await change({ remind_every_minutes: 5 }, 1)
  await remind(100)
  t.equal(await received(), '')
})

t.test('A locked monitor is skipped until later, and several processes send one reminder', async t => {
  const { fail, recover, received, ids } = await scene()
  await fail(0)
  await db.transaction(async tx => {
    await keepOpen(tx)
    await query(tx, 'SELECT FROM monitors WHERE id = ? FOR UPDATE', ids)
    t.equal(await remind(30), 0)
  })
  await Promise.all([remind(30), remind(30), remind(30)])
  t.equal(await received(), 'DOWN 1')
  await recover(31)
})

t.test('A transaction that holds the monitors of the first due reminders does not delay the others', async t => {
  const [held, other] = [await scene(), await scene()]
  await held.fail(0)
  await other.fail(1)
  const tx = await openTransaction(db)
  await execute(tx, 'SELECT FROM monitors WHERE id = ANY (?) FOR UPDATE', [held.ids])
  await sendDueReminders(db, 1, at(31))
  t.equal(await other.received(), 'DOWN 1')
  t.equal(await held.received(), 'DOWN')
  await tx.rollback()
  await sendDueReminders(db, 1, at(31))
  t.equal(await held.received(), 'DOWN 1')
  await Promise.all([held.recover(32), other.recover(32)])
})

t.test('Reminders of many monitors are sent in a digest', async t => {
  const { fail, recover, channelId } = await scene({ count: 12, type: 'chat_a' })
  await fail(0)
  await closeDueDigests(db, at(1))
  await execute(db, `UPDATE deliveries SET status = 'delivered'`)
  t.equal(await remind(30), 12)
  await closeDueDigests(db, at(31))
  const received = await listLoggedDeliveries(db, channelId)
  t.same(
    received.map(one => `${one.event} ${one.data.changes?.length}`),
    ['monitor.digest 12', 'monitor.digest 12'],
  )
  await recover(32)
})

t.test('The worker sends due reminders and then waits for the next one', async t => {
  const { fail, received } = await scene()
  await fail(0)
  const dueIn = (interval: string) =>
    execute(db, 'UPDATE reminders SET due_at = now() + CAST(? AS interval)', [interval])
  await dueIn('-1 hour')
  const worker = startReminderWorker({ db, log: createLog('test', 'silent'), metrics: createMetrics() })
  t.teardown(() => worker.stop())
  await waitFor(async () => (await received()) === 'DOWN 1')
  await dueIn('300 milliseconds')
  worker.wake()
  await waitFor(async () => (await received()) === 'DOWN 1 2')
})

t.test('While the status may be out of date a reminder waits; it is sent once when the status is current', async t => {
  const house = await scene()
  const read = (reader: StoredReader) => storeReader(db, house.ids[0]!, reader)
  await house.fail(0)
  for (const [index, reader] of (['none', 'behind', 20] as const).entries()) {
    await read(reader)
    for (const minutes of [30, 31, 32]) await remind(minutes + 60 * index)
    t.equal(await house.received(), 'DOWN', `reader ${reader}`)
  }
  await read(3_600)
  await remind(180)
  t.equal(await house.received(), 'DOWN 1')
  await remind(181)
  t.equal(await house.received(), 'DOWN 1')
  await read('none')
  await remind(210)
  await house.recover(211)
  await read(3_600)
  await remind(240)
  t.equal(await house.received(), 'DOWN 1 UP', 'no reminder follows when the monitor has recovered')
})

t.test(
  'A rule reminds of the open outage also when the previous one was reported under a clock that was ahead',
  async t => {
    const { ids, fail, recover, received, change } = await scene({ every: null })
    await fail(0)
    await recover(1)
    await fail(2)
    // the ids of events begin with their time
    const ahead = uuidv7({ msecs: Date.now() + 3_600_000 })
    await execute(
      db,
      `INSERT INTO events (id, project_id, name, subject, data, occurred_at)
     SELECT :ahead, project_id, name, subject, data, occurred_at FROM events
     WHERE subject = :subject AND name = 'monitor.down' ORDER BY id LIMIT 1`,
      { ahead, subject: `monitor:${ids[0]}` },
    )
    await change({ remind_every_minutes: 30 }, 3)
    await remind(33)
    t.equal(await received(), 'DOWN UP DOWN 1')
  },
)

t.test('While the data source of a monitor is paused, no reminder is sent', async t => {
  const { tenant, ids, fail, received } = await scene()
  const source = uuidv7()
  await execute(
    db,
    `INSERT INTO data_sources (id, project_id, is_paused, name, url, method, fetch_interval_s, timeout_ms, next_fetch_at, created_at, updated_at)
     VALUES (?, ?, true, 'Cells', 'https://cells.example/', 'GET', 60, 1000, now(), now(), now())`,
    [source, tenant.projectId],
  )
  await execute(db, 'UPDATE monitors SET data_source_id = ? WHERE id = ?', [source, ids[0]!])
  await fail(0)
  await remind(30)
  t.equal(await received(), 'DOWN')
  await execute(db, 'UPDATE data_sources SET is_paused = false WHERE id = ?', [source])
  await remind(60)
  t.equal(await received(), 'DOWN 1')
})
