import t from 'tap'
import { migratePostgres } from '../../control-plane/foundation/migrations/postgres/index.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabase } from '../support/database.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitor } from '../support/verdict.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())
const { projectId } = await insertTenant(db)

const readPolicies = (id: string) =>
  query<object>(
    db,
    `SELECT config_version, streaks_since, regions, retry_count, interval_seconds, timeout_ms, witness, is_paused
     FROM monitor_policies WHERE monitor_id = ? ORDER BY at`,
    [id],
  )

t.test('Each change of a monitor that the rules can see is stored', async t => {
  const id = await insertMonitor(db, projectId, { retryCount: 1 })
  const update = (assignments: string) => execute(db, `UPDATE monitors SET ${assignments} WHERE id = ?`, [id])
  const first = { config_version: 1, streaks_since: 1, regions: ['us-east'], retry_count: 1, interval_seconds: 30 }
  const row = { ...first, timeout_ms: 5_000, witness: true, is_paused: false }
  t.same(await readPolicies(id), [row])
  await update(`status = 'up', name = 'Other', config_version = 2, body = 'a body that rotates'`)
  t.same(await readPolicies(id), [row], 'a status, a name and a body change no rule')
  await update('retry_count = 3, config_version = 3')
  await update(`url = 'https://other.example', config_version = 4`)
  await update('is_paused = true')
  t.same((await readPolicies(id)).slice(1), [
    { ...row, retry_count: 3, config_version: 3 },
    { ...row, retry_count: 3, config_version: 4, streaks_since: 4 },
    { ...row, retry_count: 3, config_version: 4, streaks_since: 4, is_paused: true },
  ])
})

t.test('An upgrade stores the settings of the monitors that exist, once', async t => {
  const [known, older] = [await insertMonitor(db, projectId), await insertMonitor(db, projectId)]
  await execute(db, 'DELETE FROM monitor_policies WHERE monitor_id = ?', [older])
  await execute(db, `DELETE FROM knex_migrations WHERE name = '0053-first-monitor-policies'`)
  const before = await readPolicies(known)
  await migratePostgres(url)
  t.same(await readPolicies(older), before, 'both monitors have the same settings')
  t.same(await readPolicies(known), before)
})

t.test('Replaced settings are deleted 35 days later, and so are all but the newest 500', async t => {
  const id = await insertMonitor(db, projectId)
  const age = (days: number, version: number) =>
    execute(
      db,
      `INSERT INTO monitor_policies SELECT monitor_id, now() - make_interval(days => ?), ?, 1, regions, ?, 30, 5000, true, false
       FROM monitor_policies WHERE monitor_id = ? AND config_version = 1 AND retry_count = 0`,
      [days, version, version, id],
    )
  await age(60, 10)
  await age(40, 11)
  await age(20, 12)
  const versions = async () => (await readPolicies(id)).map(one => (one as { config_version: number }).config_version)
  t.same(await versions(), [10, 11, 12, 1])
  await execute(db, 'UPDATE monitors SET retry_count = 1, config_version = 2 WHERE id = ?', [id])
  t.same(await versions(), [11, 12, 1, 2], 'the row that applied 35 days ago stays')
  await execute(
    db,
    `INSERT INTO monitor_policies SELECT p.monitor_id, now() - make_interval(secs => i), i, 1, p.regions, 0, 30, 5000, true, false
     FROM monitor_policies p, generate_series(1000, 1600) i WHERE p.monitor_id = ? AND p.config_version = 2`,
    [id],
  )
  await execute(db, 'UPDATE monitors SET retry_count = 2, config_version = 3 WHERE id = ?', [id])
  t.equal((await versions()).length, 500)
})

t.test('Each live set and absence of a region is stored', async t => {
  const region = 'us-east'
  const changes = () =>
    query<{ epoch: number; probes: number; absent: boolean }>(
      db,
      `SELECT epoch, cardinality(probe_ids) AS probes, absent_from IS NOT NULL AND absent_until IS NULL AS absent
       FROM region_changes WHERE region = ? ORDER BY at`,
      [region],
    )
  await execute(db, `INSERT INTO region_epochs (region, epoch, probe_ids, updated_at) VALUES (?, 0, '{}', now())`, [
    region,
  ])
  const update = (assignments: string) =>
    execute(db, `UPDATE region_epochs SET ${assignments} WHERE region = ?`, [region])
  await update('epoch = 5, probe_ids = ARRAY[gen_random_uuid()]')
  await update('monitors = 7')
  await update('absent_from = now()')
  await update('absent_until = now()')
  t.same(await changes(), [
    { epoch: 0, probes: 0, absent: false },
    { epoch: 5, probes: 1, absent: false },
    { epoch: 5, probes: 1, absent: true },
    { epoch: 5, probes: 1, absent: false },
  ])
  await execute(db, `UPDATE region_changes SET at = at - interval '36 days' WHERE region = ?`, [region])
  await update(`epoch = 6, probe_ids = '{}'`)
  t.same(
    await changes(),
    [
      { epoch: 5, probes: 1, absent: false },
      { epoch: 6, probes: 0, absent: false },
    ],
    'the live set of 35 days ago stays',
  )
})
