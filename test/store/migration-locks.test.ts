import t from 'tap'
import { migratePostgres } from '../../control-plane/foundation/migrations/postgres/index.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { classifyReport } from '../../control-plane/monitoring/monitors/report-regions/checked-regions.ts'
import { createDatabase } from '../support/database.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitors } from '../support/verdict.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

t.test('An upgrade rewrites no monitor, and results of earlier checks still count', async t => {
  const { projectId } = await insertTenant(db)
  await insertMonitors(db, projectId, 20)
  await execute(db, 'UPDATE monitors SET config_version = 2, updated_at = now()')
  await execute(db, 'DROP TABLE foreign_reports, relay_sources')
  await execute(db, 'DROP TRIGGER monitors_leave_regions ON monitors')
  await execute(db, 'DROP FUNCTION note_left_regions')
  await execute(db, 'ALTER TABLE monitors DROP COLUMN left_regions')
  await execute(db, `DELETE FROM knex_migrations WHERE name = '0041-foreign-reports'`)
  const places = () => query(db, `SELECT id, ctid::text AS place, xmin::text AS writer FROM monitors ORDER BY id`)
  const before = await places()
  await migratePostgres(url)
  const nowMs = Date.now()
  t.same(await places(), before)
  const [old] = await query<{ left: Record<string, number> }>(db, 'SELECT left_regions AS left FROM monitors LIMIT 1')
  const monitor = { regions: ['eu-west'], left: old!.left }
  const classify = (scheduledAtMs: number, arrivedAtMs: number) =>
    classifyReport(monitor, 'us-east', { scheduledAtMs, arrivedAtMs })
  t.equal(classify(nowMs - 3_600_000, nowMs), 'own')
  t.equal(classify(nowMs + 3_600_000, nowMs + 3_600_000), 'foreign')
  t.equal(classify(nowMs - 3_600_000, nowMs + 8 * 86_400_000), 'foreign', 'probes keep results for 7 days')
  const [id] = await insertMonitors(db, projectId, 1)
  t.same(await query(db, 'SELECT left_regions AS left FROM monitors WHERE id = ?', [id!]), [{ left: {} }])
})
