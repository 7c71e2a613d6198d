import t from 'tap'
import { DEFAULT_LIMITS } from '../../control-plane/accounts/plans/plans.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { buildUptimeWindows, computeUptimeByWindow } from '../../control-plane/insight/analytics/summary/summary.ts'
import { sumTimeInStatus } from '../../control-plane/insight/analytics/summary/summary-store.ts'
import { markMaintenance } from '../../control-plane/insight/analytics/uptime/maintenance-intervals.ts'
import { listStatusTimes } from '../../control-plane/insight/analytics/uptime/status-time-store.ts'
import { buildIntervals } from '../../control-plane/insight/analytics/uptime/uptime.ts'
import { readUptime } from '../../control-plane/insight/analytics/uptime/uptime-reader.ts'
import { processDueWatches } from '../../control-plane/verdict/expiry/actions.ts'
import {
  changeWindow,
  createWindow,
  deleteWindow,
  planDueWindows,
} from '../../control-plane/verdict/maintenance/actions.ts'
import { findWindow, listMonitorsInMaintenance, listPeriods } from '../../control-plane/verdict/maintenance/store.ts'
import { createDatabase } from '../support/database.ts'
import { insertExpiryMonitor, observeCertificate, readExpiryWarnings } from '../support/expiry.ts'
import { openTransaction, waitForLock } from '../support/open-transaction.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitors } from '../support/verdict.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
const other = createPostgres(url)
t.teardown(() => Promise.all([db.destroy(), other.destroy()]))
const tools = { db, review: async () => {}, limits: DEFAULT_LIMITS }

const at = (time: string) => new Date(`2026-03-${time.replace(' ', 'T')}:00Z`)
const LONG_AGO = at('01 00:00')
const LATER = at('31 23:59')
const NIGHTLY = { title: 'Backup', cron: '30 2 * * *', duration_minutes: 60, time_zone: 'Europe/Berlin' }

async function family(count = 1) {
  const { projectId } = await insertTenant(db)
  return { projectId, ids: await insertMonitors(db, projectId, count) }
}

/** The stored rows. */
const readPeriods = (projectId: string, id: string, until: Date) =>
  query<{ startsAt: Date; endsAt: Date }>(
    db,
    `SELECT starts_at AS "startsAt", ends_at AS "endsAt" FROM maintenance_periods
     WHERE project_id = :projectId AND monitor_id = :id AND ends_at > :from AND starts_at < :until ORDER BY starts_at`,
    { projectId, id, from: LONG_AGO, until },
  )

async function periods(projectId: string, id: string, until = LATER): Promise<string[]> {
  const write = (date: Date) => date.toISOString().slice(8, 16).replace('T', ' ')
  const found = await readPeriods(projectId, id, until)
  return found.map(({ startsAt, endsAt }) => `${write(startsAt)} to ${write(endsAt)}`)
}

async function planAll(now: Date): Promise<void> {
  while ((await planDueWindows(db, 10, now)) > 0);
}

t.test('Each nightly period is planned before it begins, across the change to daylight saving time', async t => {
  const { projectId, ids } = await family()
  await createWindow(tools, projectId, { ...NIGHTLY, monitor_ids: ids }, at('27 12:00'))
  t.same(await periods(projectId, ids[0]!), ['28 01:30 to 28 02:30'])
  await planAll(at('28 01:29'))
  t.same(await periods(projectId, ids[0]!), ['28 01:30 to 28 02:30'], 'nothing to do before')
  await planAll(at('28 01:30'))
  await planAll(at('29 01:00'))
  const nights = ['28 01:30 to 28 02:30', '29 01:00 to 29 02:00', '30 00:30 to 30 01:30']
  t.same(await periods(projectId, ids[0]!), nights)
  t.same([...(await listMonitorsInMaintenance(db, ids, at('29 01:59')))], ids)
  t.same([...(await listMonitorsInMaintenance(db, ids, at('29 02:00')))], [])
})

t.test('Periods in which no process ran count as maintenance, and several processes plan each once', async t => {
  const { projectId, ids } = await family(20)
  for (const id of ids) await createWindow(tools, projectId, { ...NIGHTLY, monitor_ids: [id] }, at('20 12:00'))
  for (let i = 0; i < 12; i++)
    await Promise.all([db, other, db, other].map(pool => planDueWindows(pool, 7, at('25 12:00'))))
  await planAll(at('25 12:00'))
  for (const id of ids) t.equal((await periods(projectId, id)).length, 6, 'five nights, and the next')
})

t.test('A window with an end plans nothing after it', async t => {
  const { projectId, ids } = await family()
  const bounded = { ...NIGHTLY, monitor_ids: ids, ends_at: at('22 12:00').toISOString() }
  await createWindow(tools, projectId, bounded, at('20 12:00'))
  await planAll(at('31 12:00'))
  t.same(await periods(projectId, ids[0]!), ['21 01:30 to 21 02:30', '22 01:30 to 22 02:30'])
  t.same(
    await query(db, 'SELECT 1 FROM maintenance_windows WHERE project_id = ? AND planned_at IS NOT NULL', [projectId]),
    [],
  )
})

t.test('Maintenance is counted separately in the uptime, even if its window was changed or deleted later', async t => {
  const { projectId, ids } = await family()
  const [id] = ids as [string]
  const once = {
    title: 'Move',
    monitor_ids: ids,
    starts_at: at('10 10:00').toISOString(),
    ends_at: at('10 14:00').toISOString(),
  }
  const moved = await createWindow(tools, projectId, once, at('10 09:00'))
  await changeWindow(tools, projectId, moved.id, { ends_at: at('10 12:00').toISOString() }, at('10 11:00'))
  await changeWindow(tools, projectId, moved.id, { title: 'Moved' }, at('10 15:00'))
  await deleteWindow(tools, projectId, moved.id, at('10 16:00'))
  t.same(await periods(projectId, id), ['10 10:00 to 10 11:00', '10 11:00 to 10 12:00'])

  const readTimes = async () => {
    const [from, to] = [at('10 00:00'), at('11 00:00')]
    const { uptime } = await readUptime(db, projectId, id, { from, to })
    const times = await listStatusTimes(db, [id], { from, now: to, stepMs: 86_400_000 })
    const seconds = times.filter(({ isMaintenance }) => isMaintenance).map(time => time.seconds)
    return [uptime.maintenanceSeconds, seconds.reduce((sum, one) => sum + one, 0)]
  }
  t.same(await readTimes(), [2 * 3_600, 2 * 3_600], 'the bar of a day too, before the first verdict')

  const rows = [
    ['up', at('10 00:00')],
    ['down', at('10 10:30')],
    ['up', at('10 13:00')],
  ] as const
  for (const [status, time] of rows) {
    await execute(
      db,
      `INSERT INTO transitions (id, project_id, monitor_id, to_status, at, quorum, summary, explanation, created_at)
       VALUES (gen_random_uuid(), :projectId, :id, :status, :time, 'full', '', '{}', now())`,
      { projectId, id, status, time },
    )
  }
  const { uptime } = await readUptime(db, projectId, id, { from: at('10 10:00'), to: at('10 20:00') })
  t.equal(uptime.maintenanceSeconds, 2 * 3_600)
  t.match(uptime.seconds, { up: 7 * 3_600, down: 3_600 }, 'an hour and a half of the outage were in maintenance')
  t.equal(uptime.uptimePercentage, 87.5)

  const now = at('11 00:00')
  const summary = computeUptimeByWindow(await sumTimeInStatus(db, projectId, buildUptimeWindows(now), now))
  const percentage = Math.round((21 / 22) * 1_000_000) / 10_000
  t.same(summary, { '24h': percentage, '7d': percentage, '30d': percentage, '90d': percentage })
})

t.test(
  'The periods of windows that overlap or touch are read as one, and the uptime is that of all of them',
  async t => {
    const { projectId, ids } = await family(2)
    const [id, busy] = ids as [string, string]
    const add = (monitorId: string, rows: (readonly [Date, Date])[]) =>
      execute(
        db,
        `INSERT INTO maintenance_periods (project_id, monitor_id, window_id, starts_at, ends_at)
       SELECT :projectId, :monitorId, gen_random_uuid(), begin, until
       FROM unnest(CAST(:starts AS timestamptz[]), CAST(:ends AS timestamptz[])) AS row (begin, until)`,
        { projectId, monitorId, starts: rows.map(([start]) => start), ends: rows.map(([, end]) => end) },
      )
    const rows = [
      ...[
        ['10 09:00', '10 10:30'],
        ['10 10:15', '10 11:00'],
        ['10 11:00', '10 11:15'],
        ['10 10:20', '10 10:25'],
      ],
      ...[
        ['10 12:00', '10 12:10'],
        ['10 12:00', '10 12:30'],
        ['10 18:30', '10 21:00'],
        ['10 21:00', '10 22:00'],
      ],
    ]
    await add(
      id,
      rows.map(([start = '', end = '']) => [at(start), at(end)] as const),
    )
    const [from, to] = [at('10 10:00'), at('10 20:00')]
    const merged = [
      ['10 09:00', '10 11:15'],
      ['10 12:00', '10 12:30'],
      ['10 18:30', '10 21:00'],
    ]
    const expected = merged.map(([start = '', end = '']) => ({ startsAt: at(start), endsAt: at(end) }))
    t.same(await listPeriods(db, projectId, id, from, to), expected)
    const { uptime, intervals } = await readUptime(db, projectId, id, { from, to })
    t.same(intervals, [...markMaintenance(buildIntervals(null, [], from, to), await readPeriods(projectId, id, to))])
    t.equal(uptime.maintenanceSeconds, (75 + 30 + 90) * 60)
    t.same(await listPeriods(db, projectId, id, at('11 00:00'), at('12 00:00')), [])

    const minute = (minutes: number) => new Date(at('10 00:00').getTime() + minutes * 60_000)
    const everyTwoMinutes = Array.from({ length: 720 }, (_, i) => [minute(i * 2), minute(i * 2 + 1)] as const)
    for (let window = 0; window < 20; window++) await add(busy, everyTwoMinutes)
    const found = await listPeriods(db, projectId, busy, at('10 00:00'), at('11 00:00'))
    t.equal(found.length, 720, 'of 14,400 rows')
  },
)

t.test('A certificate that ends soon is reported after maintenance', async t => {
  const { projectId } = await insertTenant(db)
  const { id } = await insertExpiryMonitor(db, projectId)
  const now = at('12 10:00')
  const ends = new Date(now.getTime() + 5 * 86_400_000)
  const window = {
    title: 'Move',
    monitor_ids: [id],
    starts_at: now.toISOString(),
    ends_at: at('12 12:00').toISOString(),
  }
  await createWindow(tools, projectId, window, now)
  await observeCertificate(db, id, now, { ends })
  const look = (time: Date) => processDueWatches(db, 'https://picket.example', 100, time)
  await look(at('12 10:01'))
  await look(at('12 11:59'))
  t.same(await readExpiryWarnings(db, id), [])
  await look(at('12 12:10'))
  t.match(await readExpiryWarnings(db, id), [{ name: 'monitor.ssl_expiry', days: 5 }])
})

t.test('A change of the title that waits for a change of the monitors keeps the new monitors', async t => {
  const { projectId, ids } = await family(2)
  const [first, second] = ids as [string, string]
  const window = await createWindow(tools, projectId, { ...NIGHTLY, monitor_ids: [first] }, at('05 12:00'))
  const slow = await openTransaction(db)
  await changeWindow({ ...tools, db: slow }, projectId, window.id, { monitor_ids: [first, second] }, at('05 12:01'))
  const title = changeWindow({ ...tools, db: other }, projectId, window.id, { title: 'Copy' }, at('05 12:02'))
  await waitForLock(db)
  await slow.commit()
  t.match(await title, { title: 'Copy', monitorIds: { length: 2 } })
  t.same((await findWindow(db, projectId, window.id))?.monitorIds.sort(), [first, second].sort())
})
