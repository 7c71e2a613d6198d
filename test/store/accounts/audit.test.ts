import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { deleteExpiredAuditRecords, recordAudit } from '../../../control-plane/accounts/audit/actions.ts'
import { createCleanupRound, startAccountsWorker } from '../../../control-plane/accounts/cleanup-worker.ts'
import { createSession } from '../../../control-plane/accounts/sessions/actions.ts'
import { migratePostgres } from '../../../control-plane/foundation/migrations/postgres/index.ts'
import { createPostgres, execute, query } from '../../../control-plane/foundation/platform/postgres/client.ts'
import { type AuditActor, withAuditActor } from '../../../control-plane/foundation/web/auth/audit-actor.ts'
import { createLog } from '../../../shared/process/log.ts'
import { createMetrics } from '../../../shared/process/metrics.ts'
import { createDatabase } from '../../support/database.ts'
import { insertTenant } from '../../support/tenant.ts'
import { waitFor } from '../../support/wait.ts'
import { runWhileLocked } from '../../support/while-held.ts'

const db = createPostgres((await createDatabase(t)).url, 3)
t.teardown(() => db.destroy())
const { projectId, organizationId, userId } = await insertTenant(db)
const ann: AuditActor = {
  kind: 'user',
  id: userId,
  name: 'ann@example.com',
  ip: '192.0.2.7',
  projectId,
  organizationId,
}
const acting = withAuditActor(db, ann)

const log = (resourceId: string) =>
  query<Record<string, unknown>>(db, 'SELECT * FROM audit_log WHERE resource_id = ? ORDER BY seq', [resourceId])

async function insertChannel() {
  const id = uuidv7()
  await execute(
    acting,
    `INSERT INTO alert_channels (id, project_id, name, type, config, is_default, created_at, updated_at)
     VALUES (?, ?, 'Hook', 'webhook', 'sealed'::bytea, false, now(), now())`,
    [id, projectId],
  )
  return id
}

async function insertMonitor() {
  const id = uuidv7()
  await execute(
    db,
    `INSERT INTO monitors (id, project_id, partition, name, type, method, interval_seconds, timeout_ms, regions, keyword_type,
       ssl_check, domain_check, screenshot_on_failure, screenshot_compare, screenshot_threshold, retry_count, created_at,
       updated_at)
     VALUES (?, ?, 0, 'Shop', 'http', 'GET', 60, 1000, '{us-east}', 'contains', true, true, false, false, 0.1, 1, now(), now())`,
    [id, projectId],
  )
  return id
}

t.test('Creations, changes and deletions are in the log with the actor and the old values', async t => {
  const id = await insertChannel()
  await execute(acting, `UPDATE alert_channels SET name = 'Ops', config = 'other'::bytea WHERE id = ?`, [id])
  await execute(acting, 'DELETE FROM alert_channels WHERE id = ?', [id])
  const [created, updated, deleted] = await log(id)
  t.match(created, {
    ...{ project_id: projectId, organization_id: organizationId, actor_kind: 'user', actor_id: userId },
    ...{ actor_name: 'ann@example.com', ip: '192.0.2.7', action: 'created', resource: 'alert_channel' },
    ...{ resource_id: id, resource_name: 'Hook', changes: { name: { from: null, to: 'Hook' } } },
  })
  t.same(updated?.changes, {
    name: { from: 'Hook', to: 'Ops' },
    config: { from: '********', to: '********' },
  })
  t.match(deleted, { action: 'deleted', resource_name: 'Ops', changes: { name: { from: 'Ops', to: null } } })
})

t.test('A transaction without an actor writes nothing, also on a connection that had an actor before', async t => {
  const id = await insertChannel()
  await Promise.all(
    Array.from({ length: 6 }, () => execute(db, `UPDATE alert_channels SET name = name || '!' WHERE id = ?`, [id])),
  )
  t.equal((await log(id)).length, 1)
})

t.test('A change of derived columns writes nothing', async t => {
  const id = await insertChannel()
  await execute(acting, 'UPDATE alert_channels SET consecutive_failures = 3, updated_at = now() WHERE id = ?', [id])
  t.equal((await log(id)).length, 1)
})

t.test('A change that is rolled back is not in the log', async t => {
  const id = await insertChannel()
  const failing = acting.transaction(async tx => {
    await execute(tx, `UPDATE alert_channels SET name = 'Never' WHERE id = ?`, [id])
    throw new Error('no')
  })
  await t.rejects(failing, { message: 'no' })
  t.equal((await log(id)).length, 1)
})

t.test('A long text is cut in the log', async t => {
  const id = await insertChannel()
  await execute(acting, 'UPDATE alert_channels SET name = ? WHERE id = ?', ['x'.repeat(5_000), id])
  const { name } = (await log(id))[1]!.changes as { name: { to: string } }
  t.equal(name.to.length, 1_000)
  t.ok(name.to.endsWith('…'))
})

t.test('The time when a member opened the organization is not in the log', async t => {
  const before = (await log(userId)).length
  await execute(acting, 'UPDATE memberships SET entered_at = now() WHERE user_id = ?', [userId])
  t.equal((await log(userId)).length, before)
  await execute(acting, `UPDATE memberships SET role = 'editor', entered_at = NULL WHERE user_id = ?`, [userId])
  t.same((await log(userId)).at(-1)?.changes, { role: { from: 'admin', to: 'editor' } })
})

t.test('After an upgrade members count as having entered, except those who wait for a proof', async t => {
  const { url } = await createDatabase(t)
  const old = createPostgres(url)
  t.teardown(() => old.destroy())
  const [member, waiting] = [await insertTenant(old), await insertTenant(old)]
  await execute(old, 'ALTER TABLE memberships DROP COLUMN entered_at')
  await execute(old, 'ALTER TABLE claim_links DROP COLUMN organization_id')
  await execute(old, `DELETE FROM knex_migrations WHERE name = '0072-entered-organizations'`)
  await execute(old, 'UPDATE memberships SET awaits_proof = true WHERE user_id = ?', [waiting.userId])
  await migratePostgres(url)
  const isEntered = ({ userId: id }: { userId: string }) =>
    query(old, 'SELECT FROM memberships WHERE user_id = ? AND entered_at = created_at', [id])
  t.equal((await isEntered(member)).length, 1)
  t.equal((await isEntered(waiting)).length, 0)
  const late = await insertTenant(old)
  await execute(old, 'UPDATE memberships SET entered_at = NULL WHERE user_id = ?', [late.userId])
  await old.transaction(tx => createSession(tx, late.userId))
  t.equal(
    (await query(old, 'SELECT FROM memberships WHERE user_id = ? AND entered_at IS NOT NULL', [late.userId])).length,
    1,
    'a member whom an old process inserted enters by the next sign-in',
  )
})

t.test('A member who leaves is still named in the log', async t => {
  await execute(acting, 'DELETE FROM memberships WHERE user_id = ?', [userId])
  const [user] = await query<{ email: string }>(db, 'SELECT email FROM users WHERE id = ?', [userId])
  t.match((await log(userId)).at(-1), { resource: 'member', action: 'deleted', resource_name: user?.email })
})

t.test('An act that changes no row is written when it is recorded with an actor', async t => {
  const act = { action: 'signed_in', resource: 'session', resourceId: uuidv7(), resourceName: null } as const
  await acting.transaction(tx => recordAudit(tx, act))
  await db.transaction(tx => recordAudit(tx, act))
  t.match(await log(act.resourceId), [{ action: 'signed_in', actor_name: 'ann@example.com', changes: {} }])
})

t.test('A change of another tenant’s record is in that tenant’s log without the actor', async t => {
  const other = await insertTenant(db)
  const id = uuidv7()
  await execute(
    db,
    `INSERT INTO status_pages (id, project_id, name, slug, template, brand_color, custom_domain, created_at, updated_at)
     VALUES (?, ?, 'Acme', ?, 'clean', '#00ff00', 'status.example.com', now(), now())`,
    [id, other.projectId, id],
  )
  await execute(acting, 'UPDATE status_pages SET custom_domain = NULL WHERE id = ?', [id])
  t.match(await log(id), [
    {
      ...{ project_id: other.projectId, organization_id: other.organizationId },
      ...{ actor_kind: 'system', actor_id: null, actor_name: 'Picket', ip: null },
      changes: { custom_domain: { from: 'status.example.com', to: null } },
    },
  ])
})

t.test('The deletion of a maintenance window with its parts is one row', async t => {
  const id = uuidv7()
  await execute(
    acting,
    `INSERT INTO maintenance_windows (id, project_id, title, starts_at, ends_at, created_at, updated_at)
     VALUES (?, ?, 'Backup', now(), now(), now(), now())`,
    [id, projectId],
  )
  const monitors = [await insertMonitor(), await insertMonitor()]
  for (const monitor of monitors) {
    await execute(acting, 'INSERT INTO maintenance_window_monitors (window_id, monitor_id) VALUES (?, ?)', [
      id,
      monitor,
    ])
  }
  await execute(acting, 'DELETE FROM maintenance_windows WHERE id = ?', [id])
  const entries = (await log(id)).map(row => [`${row.action} ${row.resource_name}`, row.changes] as [string, object])
  t.same(
    entries.map(([action]) => action),
    ['created Backup', 'updated Backup', 'updated Backup', 'deleted Backup'],
  )
  t.same(entries[1]?.[1], { monitor_id: { from: null, to: monitors[0] } })
})

t.test('Rows are deleted after a year', async t => {
  const before = (await query(db, 'SELECT id FROM audit_log')).length
  const ages = ['364 days', '367 days']
  for (const age of ages) {
    await execute(
      db,
      `INSERT INTO audit_log (at, actor_kind, actor_name, action, resource, changes)
       VALUES (now() - ?::interval, 'operator', 'operator', 'created', 'monitor', '{}')`,
      [age],
    )
  }
  t.equal(await deleteExpiredAuditRecords(db, new AbortController().signal), 1)
  t.equal((await query(db, 'SELECT id FROM audit_log')).length, before + 1)
})

t.test(
  'One round deletes a backlog of old rows, also when other kinds of rows cannot be deleted, and reports that',
  async t => {
    await execute(
      db,
      `INSERT INTO audit_log (at, actor_kind, actor_name, action, resource, changes)
     SELECT now() - interval '367 days', 'operator', 'operator', 'created', 'monitor', '{}' FROM generate_series(1, 21000)`,
    )
    const young = 'SELECT count(*)::integer AS count FROM audit_log'
    await execute(db, 'ALTER TABLE bootstrap_attempts RENAME TO bootstrap_attempts_away')
    const metrics = createMetrics()
    const worker = startAccountsWorker({ db, metrics, log: createLog('test', 'silent') })
    t.teardown(() => worker.stop())
    const failed = /picket_loop_rounds_total\{loop="accounts-prune",outcome="failed"\} 1\n/
    await waitFor(async () => failed.test((await metrics.render()).text), { label: 'a round that failed' })
    await execute(db, 'ALTER TABLE bootstrap_attempts_away RENAME TO bootstrap_attempts')
    const old = await query(db, `SELECT id FROM audit_log WHERE at < now() - interval '366 days'`)
    t.equal(old.length, 0)
    t.ok((await query<{ count: number }>(db, young))[0]!.count > 0)
  },
)

t.test('A kind of rows whose deletion takes the time of a whole round is not the first of the next one', async t => {
  await execute(
    db,
    `INSERT INTO audit_log (at, actor_kind, actor_name, action, resource, changes)
     VALUES (now() - interval '367 days', 'operator', 'operator', 'created', 'monitor', '{}')`,
  )
  const old = () => query(db, `SELECT id FROM audit_log WHERE at < now() - interval '366 days'`)
  const round = createCleanupRound(db)
  const limit = new AbortController()
  let aborted: Promise<unknown> = Promise.resolve()
  await runWhileLocked(
    db,
    tx => execute(tx, 'LOCK TABLE idempotency_marks'),
    async () => {
      aborted = t.rejects(round(limit.signal), /cancel/)
    },
    async tx => {
      limit.abort()
      await execute(
        tx,
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
      await aborted
      t.equal((await old()).length, 1, 'the aborted round left it')
      await round(new AbortController().signal)
      t.same(await old(), [], 'although the first kind is still locked')
    },
  )
})

t.test('Rows cannot be changed, and not be deleted for a year', async t => {
  await insertChannel()
  await t.rejects(execute(db, `UPDATE audit_log SET actor_name = 'Bob'`), /365 days/)
  await t.rejects(execute(db, 'DELETE FROM audit_log'), /365 days/)
  await t.rejects(execute(db, 'TRUNCATE audit_log'), /365 days/)
})
