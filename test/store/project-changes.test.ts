import t from 'tap'
import { migratePostgres } from '../../control-plane/foundation/migrations/postgres/index.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { deleteOldChanges, readChanges } from '../../control-plane/insight/live/change-store.ts'
import { insertStates } from '../support/board.ts'
import { createDatabase } from '../support/database.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertChannel, insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

const positionNow = async () => (await readChanges(db, [])).position.snapshot
const read = async (projectId: string, since: string, until: string | null = null) =>
  Object.fromEntries((await readChanges(db, [{ projectId, since }], until)).changes[0]!)

t.test('Each change is in the log of its project, by kind', async t => {
  const [one, two] = [await insertTenant(db), await insertTenant(db)]
  const projectId = one.projectId
  const since = await positionNow()
  const [a, b] = (await insertMonitors(db, projectId, 2)) as [string, string]
  await insertMonitors(db, two.projectId, 1)
  t.same((await read(projectId, since)).monitor?.sort(), [a, b].sort())
  const later = await positionNow()
  await insertStates(db, [b], `'ok'`)
  t.same(await read(projectId, later), { monitor: [b] }, 'a new verdict state')
  const last = await positionNow()
  await insertStates(db, [a, b], `'failing'`)
  await execute(db, `DELETE FROM verdict_states WHERE monitor_id = ?`, [a])
  t.same((await read(projectId, last)).monitor?.sort(), [a, b].sort())
  const channelId = await insertChannel(db, projectId, [a])
  t.same((await read(projectId, last)).channel, [channelId])
  t.same(await read(projectId, last, last), {}, 'nothing between a position and itself')
  t.same(Object.keys(await read(two.projectId, since)), ['monitor'])
})

t.test('A change that commits late is after each position that was taken before its commit', async t => {
  const { projectId } = await insertTenant(db)
  const [slow, quick] = (await insertMonitors(db, projectId, 2)) as [string, string]
  const rename = `UPDATE monitors SET name = 'x' WHERE id = ?`
  const since = await positionNow()
  const tx = await openTransaction(db)
  await tx.raw(rename, [slow])
  await execute(db, rename, [quick])
  const between = await positionNow()
  t.same(await read(projectId, since), { monitor: [quick] })
  await tx.commit()
  t.same(await read(projectId, between), { monitor: [slow] })
  t.same(await read(projectId, since, between), { monitor: [quick] })
})

t.test('A change that is rolled back is not in the log', async t => {
  const { projectId } = await insertTenant(db)
  const since = await positionNow()
  await t.rejects(
    db.transaction(async tx => {
      await insertMonitors(tx as never, projectId, 1)
      throw new Error('refused')
    }),
  )
  t.same(await read(projectId, since), {})
})

t.test('A transaction with many statements sends one notification for each project', async t => {
  const { projectId } = await insertTenant(db)
  const ids = await insertMonitors(db, projectId, 3)
  const connection = await db.client.acquireConnection()
  t.teardown(() => db.client.releaseConnection(connection))
  const received: string[] = []
  connection.on('notification', ({ payload }: { payload: string }) => received.push(payload))
  await connection.query('LISTEN project_changes; LISTEN finished')
  await db.transaction(async tx => {
    for (const id of ids) await tx.raw(`UPDATE monitors SET name = 'y' WHERE id = ?`, [id])
    await insertStates(tx as never, ids, `'ok'`)
  })
  await db.raw(`SELECT pg_notify('finished', 'finished')`)
  await waitFor(() => received.includes('finished'))
  t.same(received, [projectId, 'finished'])
})

t.test('Rows are deleted after an hour, when no position needs them', async t => {
  const { projectId } = await insertTenant(db)
  await insertMonitors(db, projectId, 1)
  const count = async (where: string, bindings: string[] = []) =>
    (await query<{ n: number }>(db, `SELECT count(*) AS n FROM project_changes WHERE ${where}`, bindings))[0]!.n
  const [old, kept] = [await count('project_id = ?', [projectId]), await count('project_id <> ?', [projectId])]
  t.ok(old > 0 && kept > 0)
  t.equal(await deleteOldChanges(db, 10), 0)
  await execute(db, `UPDATE project_changes SET at = at - interval '61 minutes' WHERE project_id = ?`, [projectId])
  t.equal(await deleteOldChanges(db, 10), old)
  t.equal(await count('true'), kept)
})

t.test('A database with monitors is upgraded, and notes what changes from then on', async t => {
  const { projectId } = await insertTenant(db)
  const [id] = (await insertMonitors(db, projectId, 1)) as [string]
  await execute(db, 'DROP TABLE project_changes')
  await execute(db, 'DROP FUNCTION note_changes, note_state_changes, note_incident_updates CASCADE')
  await execute(db, 'DROP FUNCTION note_delivery_changes, note_channel_changes CASCADE')
  await execute(db, `DELETE FROM knex_migrations WHERE name = '0046-project-changes'`)
  await migratePostgres(url)
  const since = await positionNow()
  await execute(db, `UPDATE monitors SET name = 'z' WHERE id = ?`, [id])
  t.same(await read(projectId, since), { monitor: [id] })
})
