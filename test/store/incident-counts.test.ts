import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { migratePostgres } from '../../control-plane/foundation/migrations/postgres/index.ts'
import { createPostgres, type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { compactIncidentCounts } from '../../control-plane/verdict/incidents/count-store.ts'
import { INCIDENT_STATUSES, SEVERITIES } from '../../control-plane/verdict/incidents/lifecycle.ts'
import { listIncidents } from '../../control-plane/verdict/incidents/store.ts'
import { createDatabase } from '../support/database.ts'
import { insertTenant } from '../support/tenant.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url, 8)
t.teardown(() => db.destroy())
const projects = await Promise.all([1, 2, 3].map(async () => (await insertTenant(db)).projectId))

/** The same numbers in each run. */
let seed = 7
const random = (below: number) => {
  seed = (seed * 48_271) % 2_147_483_647
  return seed % below
}
const pickOne = <T>(values: readonly T[]): T => values[random(values.length)]!
const anyState = () => ({ status: pickOne(INCIDENT_STATUSES), severity: pickOne(SEVERITIES) })

const insert = (on: Db, projectId: string, many: number) =>
  execute(
    on,
    `INSERT INTO incidents (id, project_id, title, severity, status, source, started_at, created_at, updated_at)
     SELECT id, :projectId, 'x', :severity, :status, 'manual', now(), now(), now() FROM unnest(CAST(:ids AS uuid[])) id`,
    { ...anyState(), projectId, ids: Array.from({ length: many }, () => uuidv7()) },
  )

/** Some of a project's incidents, chosen by their ids. */
const SOME = `id IN (SELECT id FROM incidents WHERE project_id = :projectId ORDER BY md5(id::text || :salt) LIMIT :many)`
const some = (projectId: string) => ({ projectId, salt: String(random(1_000)), many: random(6) })

const change = (on: Db, projectId: string) =>
  execute(on, `UPDATE incidents SET status = :status, severity = :severity WHERE ${SOME}`, {
    ...some(projectId),
    ...anyState(),
  })
const remove = (on: Db, projectId: string) => execute(on, `DELETE FROM incidents WHERE ${SOME}`, some(projectId))

async function compare(
  t: { equal(found: unknown, wanted: unknown, message: string): unknown },
  projectId: string,
): Promise<void> {
  const page = { limit: 1, offset: 0 }
  for (const statuses of [null, ...INCIDENT_STATUSES.map(one => [one])]) {
    for (const severities of [null, ...SEVERITIES.map(one => [one]), ['minor', 'critical']]) {
      const { total } = await listIncidents(db, projectId, { statuses, severities }, page)
      const [counted] = await query<{ total: number }>(
        db,
        `SELECT count(*) AS total FROM incidents WHERE project_id = :projectId
         AND (CAST(:statuses AS text[]) IS NULL OR status = ANY(:statuses))
         AND (CAST(:severities AS text[]) IS NULL OR severity = ANY(:severities))`,
        { projectId, statuses, severities },
      )
      t.equal(total, counted!.total, `${statuses ?? 'any status'}, ${severities ?? 'any severity'}`)
    }
  }
}

t.test('the number of incidents is correct after any changes, and while counts are summed up', async t => {
  for (let round = 0; round < 12; round++) {
    const work = Array.from({ length: 12 }, async () => {
      const projectId = pickOne(projects)
      const action = pickOne([
        () => insert(db, projectId, random(5)),
        () => change(db, projectId),
        () => remove(db, projectId),
      ])
      if (random(4) === 0) await compactIncidentCounts(db)
      // two transactions that change the same incidents may deadlock; PostgreSQL then rolls one back
      await action().catch(error => t.match(error, { code: '40P01' }))
    })
    await Promise.all([...work, compactIncidentCounts(db), compactIncidentCounts(db)])
  }
  for (const projectId of projects) await compare(t, projectId)
  for (const projectId of projects) await insert(db, projectId, 1)
  await compactIncidentCounts(db)
  for (const projectId of projects) await compare(t, projectId)
  const rows = await query(db, 'SELECT FROM incident_counts')
  t.ok(rows.length <= projects.length * INCIDENT_STATUSES.length * SEVERITIES.length, 'one row for each')
})

t.test('a change that is rolled back is not counted', async t => {
  const [projectId] = projects
  await t.rejects(
    db.transaction(async tx => {
      await insert(tx, projectId!, 5)
      throw new Error('undone')
    }),
    /undone/,
  )
  await compare(t, projectId!)
})

t.test('a deleted project has no counts', async t => {
  const { projectId } = await insertTenant(db)
  await insert(db, projectId, 9)
  await compactIncidentCounts(db)
  await execute(db, 'DELETE FROM projects WHERE id = ?', [projectId])
  await compactIncidentCounts(db)
  t.same(await query(db, 'SELECT amount FROM incident_counts WHERE project_id = ?', [projectId]), [])
})

t.test('incidents from before the upgrade are counted', async t => {
  await db.raw(`
    DROP TABLE incident_counts;
    DROP FUNCTION count_added_incidents, count_removed_incidents, count_changed_incidents CASCADE;
    DELETE FROM knex_migrations WHERE name = '0040-incident-counts'`)
  await insert(db, projects[0]!, 40)
  await migratePostgres(url)
  for (const projectId of projects) await compare(t, projectId)
  await insert(db, projects[0]!, 2)
  await compare(t, projects[0]!)
})
