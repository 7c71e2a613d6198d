import t from 'tap'
import { deleteOrganization } from '../../../control-plane/accounts/organizations/deletion/actions.ts'
import { closeOrganization } from '../../../control-plane/accounts/organizations/deletion/store.ts'
import { createPostgres, execute, query } from '../../../control-plane/foundation/platform/postgres/client.ts'
import { applyFetch } from '../../../control-plane/integrations/data-sources/children/apply-actions.ts'
import { claimDue } from '../../../control-plane/integrations/data-sources/fetching/claim-store.ts'
import { createApplyTools, createSource, LEASE_MS } from '../../support/child-sources.ts'
import { createDatabase } from '../../support/database.ts'

const db = createPostgres((await createDatabase(t)).url)
t.teardown(() => db.destroy())

const listRemaining = (projectId: string) =>
  query(db, `SELECT id FROM monitors WHERE project_id = ? AND (deleted_at IS NULL OR name <> '' OR url IS NOT NULL)`, [
    projectId,
  ])

t.test('A data source creates no monitors while its organization is deleted', async t => {
  const source = await createSource(db)
  await source.fetch({ a: 'up' })
  const claimed = await source.claim()
  await db.transaction(tx => closeOrganization(tx, source.organizationId, new Date()))
  // as the deletion does before it deletes the source
  await execute(db, 'DELETE FROM data_source_children WHERE data_source_id = ?', [source.id])
  const result = { children: [source.child('a', 'up'), source.child('b', 'up')], keys: 2 }
  const fetch = { source: claimed, result, startedAt: new Date(), endedAt: new Date(), responseTimeMs: 1 }
  t.notOk(await applyFetch(createApplyTools(db), 'one', fetch), 'the result of a fetch in progress is discarded')
  await execute(db, 'UPDATE data_sources SET next_fetch_at = now(), lease_until = NULL, lease_owner = NULL')
  t.same(await claimDue(db, 'two', 100, LEASE_MS), [], 'and no further fetch begins')
  await deleteOrganization(db, source.organizationId, true)
  t.same(await listRemaining(source.projectId), [])
})

t.test('A monitor that a process of the version before creates during the deletion is deleted too', async t => {
  const source = await createSource(db)
  await source.fetch({ a: 'up', b: 'up' })
  // a trigger instead of a process: one monitor appears when the first rows of the project are deleted
  await execute(
    db,
    `CREATE FUNCTION add_monitor() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       UPDATE monitors SET name = 'late', url = 'https://cells.example/', deleted_at = NULL
       WHERE id = (SELECT min(id::text)::uuid FROM monitors WHERE project_id = OLD.project_id);
       RETURN OLD;
     END $$`,
  )
  await execute(
    db,
    'CREATE TRIGGER add_monitor AFTER DELETE ON data_sources FOR EACH ROW EXECUTE FUNCTION add_monitor()',
  )
  await deleteOrganization(db, source.organizationId, true)
  t.same(await listRemaining(source.projectId), [])
})
