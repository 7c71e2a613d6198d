import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createApiKey, createAuthenticator } from '../../../control-plane/accounts/api-keys/actions.ts'
import { deleteOrganization } from '../../../control-plane/accounts/organizations/deletion/actions.ts'
import { sortChildrenFirst } from '../../../control-plane/accounts/organizations/deletion/table-order.ts'
import { startDeletionWorker } from '../../../control-plane/accounts/organizations/deletion/worker.ts'
import { createPostgres, type Db, execute, query } from '../../../control-plane/foundation/platform/postgres/client.ts'
import { OPERATOR_ACTOR, withAuditActor } from '../../../control-plane/foundation/web/auth/audit-actor.ts'
import { createLog } from '../../../shared/process/log.ts'
import { createMetrics } from '../../../shared/process/metrics.ts'
import { createDatabase } from '../../support/database.ts'
import { openTransaction } from '../../support/open-transaction.ts'
import { insertTenant } from '../../support/tenant.ts'
import { insertChannel, insertMonitors } from '../../support/verdict.ts'
import { waitFor } from '../../support/wait.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())
const MONITORS = 1_000
const TRANSITIONS_EACH = 4

const count = async (sql: string, values: string[]) =>
  (await query<{ count: number }>(db, `SELECT count(*)::integer AS count ${sql}`, values))[0]!.count

/** An organization with a thousand monitors and a month of their data. */
async function insertFull() {
  const tenant = await insertTenant(db)
  const { projectId } = tenant
  const ids = (await insertMonitors(db, projectId, MONITORS)).sort()
  await insertChannel(db, projectId, ids.slice(0, 50))
  await execute(
    db,
    `INSERT INTO transitions (id, project_id, monitor_id, to_status, at, quorum, summary, explanation, created_at)
     SELECT uuidv7(), ?, m.id, 'up', now(), 'full', '', '{}', now()
     FROM unnest(?::uuid[]) AS m (id), generate_series(1, ${TRANSITIONS_EACH})`,
    [projectId, ids],
  )
  return { ...tenant, ids }
}

const countTransitions = (projectId: string) => count('FROM transitions WHERE project_id = ?', [projectId])
const countNamed = (projectId: string) => count(`FROM monitors WHERE project_id = ? AND name <> ''`, [projectId])
const countLiving = (projectId: string) =>
  count('FROM monitors WHERE project_id = ? AND deleted_at IS NULL', [projectId])

/** Locks one row until it is released, so that deletions and changes of it wait. */
async function hold(db: Db, table: string, id: string) {
  const tx = await openTransaction(db)
  await tx.raw('SELECT FROM ?? WHERE id = ? FOR UPDATE', [table, id])
  return tx
}

t.test(
  'An organization is closed immediately and emptied in batches; others change their monitors meanwhile',
  async t => {
    const { organizationId, projectId, userId, ids } = await insertFull()
    const { key } = await createApiKey(db, { projectId, userId }, { name: 'test', scope: 'admin' })
    const held = await hold(db, 'monitors', ids.at(-1)!)
    const deleting = deleteOrganization(db, organizationId, true)
    await waitFor(async () => (await countLiving(projectId)) === 200, { label: 'all but the held ones' })
    t.equal(await createAuthenticator(db)(key, '192.0.2.1'), null, 'its keys open nothing')
    const other = await insertTenant(db)
    const [mine] = await insertMonitors(db, other.projectId, 1)
    await execute(db, 'UPDATE monitors SET is_paused = true WHERE id = ?', [mine!])
    await held.commit()
    await deleting
    t.same([await countLiving(projectId), await countNamed(projectId), await countTransitions(projectId)], [0, 0, 0])
    t.equal(await count('FROM alert_channels WHERE project_id = ?', [projectId]), 0)
    t.equal(await countLiving(other.projectId), 1)
  },
)

t.test('An interrupted deletion is finished by the role schedule and is once in the audit log', async t => {
  const { organizationId, projectId, ids } = await insertFull()
  const [last] = await query<{ id: string }>(db, 'SELECT id FROM transitions WHERE monitor_id = ? LIMIT 1', [
    ids.at(-1)!,
  ])
  const held = await hold(db, 'transitions', last!.id)
  const dying = createPostgres(url, 1)
  const broken = t.rejects(deleteOrganization(withAuditActor(dying, OPERATOR_ACTOR), organizationId, true))
  await waitFor(async () => (await countNamed(projectId)) === 200, { label: 'all but the last ones emptied' })
  const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`
  await waitFor(async () => (await query(db, end)).length > 0, { label: 'the end of its connection' })
  await broken
  await dying.destroy()
  await held.commit()
  t.ok((await countTransitions(projectId)) > 0)
  t.same(await count('FROM organizations WHERE id = ? AND emptied_at IS NULL', [organizationId]), 1)

  const worker = startDeletionWorker({ db, log: createLog('test', 'silent'), metrics: createMetrics() })
  t.teardown(() => worker.stop())
  await waitFor(async () => {
    worker.wake()
    return (await count('FROM organizations WHERE id = ? AND emptied_at IS NOT NULL', [organizationId])) === 1
  })
  t.same([await countLiving(projectId), await countNamed(projectId), await countTransitions(projectId)], [0, 0, 0])
  t.equal(await count('FROM audit_log WHERE resource_id = ?', [organizationId]), 1)
})

t.test('The same command finishes an interrupted deletion, and then the organization is not found', async t => {
  const { organizationId, projectId } = await insertTenant(db)
  await insertMonitors(db, projectId, 3)
  await execute(db, 'UPDATE organizations SET deleted_at = now() WHERE id = ?', [organizationId])
  t.match(await deleteOrganization(db, organizationId, true), { id: organizationId, name: 'Acme' })
  t.equal(await countNamed(projectId), 0)
  await t.rejects(deleteOrganization(db, organizationId, true), { message: 'organization not found' })
  await t.rejects(deleteOrganization(db, uuidv7(), true), { message: 'organization not found' })
})

t.test('References are deleted before their row, and cycles are resolved', async t => {
  const places = ['channels', 'events', 'deliveries', 'pages'].map(name => ({ name }))
  const references = [
    { name: 'deliveries', to: 'channels' },
    { name: 'deliveries', to: 'events' },
    { name: 'channels', to: 'pages' },
    { name: 'channels', to: 'channels' },
  ]
  const names = (found: { name: string }[]) => found.map(({ name }) => name)
  t.same(names(sortChildrenFirst(places, references)), ['deliveries', 'channels', 'events', 'pages'])
  const circle = [...references, { name: 'pages', to: 'deliveries' }]
  t.equal(sortChildrenFirst(places, circle).length, 4)
})
