import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { listWithheldAlerts } from '../../control-plane/insight/explanations/withheld-store.ts'
import { createDatabase } from '../support/database.ts'
import { createScenario } from '../support/silences.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertChannel, insertMonitor } from '../support/verdict.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

const NOW = new Date('2026-11-21T14:00:00.000Z')
const minutes = (count: number) => new Date(NOW.getTime() + count * 60_000)

/** A monitor of a new project, with functions that insert what may withhold its alerts. */
async function setUp() {
  const { projectId } = await insertTenant(db)
  const monitorId = await insertMonitor(db, projectId)
  const incidentId = uuidv7()
  return {
    ...{ projectId, monitorId, incidentId },
    event: async (name: string, at: Date, incident: string | null = incidentId): Promise<string> => {
      const id = uuidv7()
      await execute(
        db,
        `INSERT INTO events (id, project_id, name, subject, data, occurred_at) VALUES (?, ?, ?, ?, ?, ?)`,
        [id, projectId, name, `monitor:${monitorId}`, JSON.stringify({ incident: incident && { id: incident } }), at],
      )
      return id
    },
    maintenance: (from: Date, to: Date) =>
      execute(
        db,
        `INSERT INTO maintenance_periods (project_id, monitor_id, window_id, starts_at, ends_at) VALUES (?, ?, ?, ?, ?)`,
        [projectId, monitorId, uuidv7(), from, to],
      ),
    silence: async (from: Date, to: Date) => {
      const id = uuidv7()
      await execute(db, 'INSERT INTO alert_silences (id, project_id, created_at, ends_at) VALUES (?, ?, ?, ?)', [
        ...[id, projectId, from, to],
      ])
      await execute(db, 'INSERT INTO alert_silence_monitors VALUES (?, ?)', [id, monitorId])
    },
    wait: (reason: string, eventIds: string[]) =>
      execute(
        db,
        `INSERT INTO silences (monitor_id, withheld, reason, is_parent_down, doubt_until, is_asked, is_answered, due_at)
         VALUES (?, ?, ?, false, ?, false, false, now())`,
        [
          monitorId,
          JSON.stringify({ told: 'up', ended: null, began: { eventIds }, last: { eventIds } }),
          reason,
          minutes(1),
        ],
      ),
    list: async (of: string | null = incidentId, limit = 50) =>
      (await listWithheldAlerts(db, { projectId, monitorIds: [monitorId], incidentId: of, now: NOW }, limit)).map(
        ({ event_id: id, at: _, ...alert }) => ({ id, ...alert }),
      ),
  }
}

t.test('An alert that waits is listed with the reason of now, in the incident and of the monitor', async t => {
  const { event, silence, wait, list, monitorId } = await setUp()
  const incidentEvent = uuidv7()
  const down = await event('monitor.down', minutes(-10))
  await silence(minutes(-60), minutes(20))
  await silence(minutes(-60), minutes(30))
  await wait('silenced', [down, incidentEvent])
  const alert = { id: down, monitor_id: monitorId, event: 'monitor.down', is_waiting: true }
  const expected = [{ ...alert, reason: 'silenced', until: minutes(30) }]
  t.same(await list(), expected)
  t.same(await list(null), expected)
  t.same(await list(uuidv7()), [], 'not in another incident')
})

t.test('An alert that waits for a parent has its reason, whatever else withholds it', async t => {
  const { event, silence, wait, list } = await setUp()
  const down = await event('monitor.down', minutes(-10))
  await silence(minutes(-60), minutes(20))
  await wait('doubt', [down])
  t.match(await list(null), [{ id: down, reason: 'doubt', until: minutes(1), is_waiting: true }])
  await execute(db, `UPDATE silences SET reason = 'turn'`)
  t.same(await list(null), [], 'it is about to be sent')
})

t.test('An alert that was never sent has the reason of its time, maintenance before silences', async t => {
  const { event, silence, maintenance, list } = await setUp()
  await silence(minutes(-60), minutes(-20))
  await maintenance(minutes(-40), minutes(-30))
  const outside = await event('monitor.down', minutes(-61))
  const silenced = await event('monitor.degraded', minutes(-50))
  const maintained = await event('monitor.down', minutes(-40))
  const other = [await event('monitor.up', minutes(-20)), await event('monitor.ssl_expiry', minutes(-35))]
  await event('monitor.down', minutes(-35), null)
  const found = await list()
  t.match(found, [
    { id: silenced, reason: 'silenced', until: minutes(-20), is_waiting: false },
    { id: maintained, reason: 'maintenance', until: minutes(-30), is_waiting: false },
  ])
  t.equal(found.length, 2, `not ${[outside, ...other]}`)
  t.equal((await list(undefined, 1)).length, 1)
  t.same(await list(null), [], 'nothing waits')
})

t.test('An alert that was sent afterwards, alone or in a digest, is not listed as withheld', async t => {
  const { projectId, monitorId, event, silence, list } = await setUp()
  await silence(minutes(-60), minutes(-20))
  const down = await event('monitor.down', minutes(-50))
  t.equal((await list()).length, 1)
  const channelId = await insertChannel(db, projectId, [monitorId])
  await execute(
    db,
    `INSERT INTO deliveries (id, project_id, channel_id, event_id, event_name, subject, status, created_at, updated_at)
     VALUES (?, ?, ?, ?, 'monitor.down', ?, 'pending', now(), now())`,
    [`whd_${uuidv7()}`, projectId, channelId, down, `monitor:${monitorId}`],
  )
  t.same(await list(), [])
})

t.test('Alerts that the verdict withholds in a silence are listed until they are sent', async t => {
  const { projectId } = await insertTenant(db)
  const house = await createScenario(db, projectId)
  const ids = (await house.addMonitors(2)) as [string, string]
  const [lasting, brief] = ids
  await house.check(ids, '+')
  await house.silence(ids, 60)
  await house.check([lasting], '-')
  await house.check([brief], '-+')
  const list = async (monitorId: string, incidentId: string | null) =>
    (await listWithheldAlerts(db, { projectId, monitorIds: [monitorId], incidentId, now: house.now() }, 50)).map(
      ({ event, reason, is_waiting: isWaiting }) => `${event} ${reason}${isWaiting ? ' waits' : ''}`,
    )
  const findIncidentId = async (monitorId: string) => {
    const sql = 'SELECT incident_id AS id FROM incident_monitors WHERE monitor_id = ?'
    return (await query<{ id: string }>(db, sql, [monitorId]))[0]!.id
  }
  t.same(await list(lasting, null), ['monitor.down silenced waits'])
  t.same(await list(lasting, await findIncidentId(lasting)), ['monitor.down silenced waits'])
  await house.pass(60)
  t.equal(await house.sent(lasting), 'down created')
  t.same(await list(lasting, await findIncidentId(lasting)), [], 'it was sent')
  t.same(await list(brief, null), [])
  t.same(await list(brief, await findIncidentId(brief)), ['monitor.down silenced', 'monitor.up silenced'])
})
