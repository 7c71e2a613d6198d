import t from 'tap'
import { newId } from '../../control-plane/foundation/platform/ids.ts'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDependency } from '../../control-plane/integrations/vendors/dependencies/dependency-actions.ts'
import { deleteOldIncidents, saveIncidents } from '../../control-plane/integrations/vendors/incidents/incident-store.ts'
import { createDatabase } from '../support/database.ts'
import { insertTenant } from '../support/tenant.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())

t.test('The oldest closed incidents of a dependency are deleted, except those that its feed still lists', async t => {
  const now = new Date()
  const { projectId } = await insertTenant(db)
  const site = { name: 'Acme', status_url: 'https://status.acme.example', feed_type: 'rss' } as const
  const dependencyId = await createDependency({ db, checkLiteral: () => null }, projectId, site, now)
  const closed = (sourceId: string) => ({
    ...({
      id: newId(),
      projectId,
      dependencyId,
      sourceId,
      title: sourceId,
      severity: 'minor',
      status: 'resolved',
    } as const),
    ...({
      components: [] as string[],
      sourceUrl: site.status_url,
      startedAt: now,
      resolvedAt: now,
      worst: 'degraded',
    } as const),
    ...({ announced: 'end', announcedAt: null, missing: 0, createdAt: now, updatedAt: now } as const),
  })
  await db.transaction(async tx => {
    await saveIncidents(tx, ['oldest', 'listed', 'third', 'fourth'].map(closed))
    await deleteOldIncidents(tx, [dependencyId], 2, now, ['listed'])
  })
  const kept = await query<{ id: string }>(
    db,
    'SELECT source_id AS id FROM vendor_incidents ORDER BY vendor_incidents.id',
  )
  t.same(
    kept.map(({ id }) => id),
    ['listed', 'third', 'fourth'],
  )
})
