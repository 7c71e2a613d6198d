import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDependency } from '../../control-plane/integrations/vendors/dependencies/dependency-actions.ts'
import { countNotifications, saveIncidents } from '../../control-plane/integrations/vendors/incidents/incident-store.ts'
import type { VendorIncident } from '../../control-plane/integrations/vendors/types.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { createDatabase } from '../support/database.ts'
import { insertTenant } from '../support/tenant.ts'

const db = createPostgres((await createDatabase(t)).url)
t.teardown(() => db.destroy())

t.test('Alerts of a vendor count for an hour; those from before the clock was set back do not count', async t => {
  const { projectId } = await insertTenant(db)
  const { checkLiteral } = createEgress({ allow: [] })
  const now = new Date()
  const address = { name: 'Acme', status_url: 'https://status.acme.example', feed_type: 'statuspage' } as const
  const dependencyId = await createDependency({ db, checkLiteral }, projectId, address, now)
  const at = (minutes: number) => new Date(now.getTime() + minutes * 60_000)
  const incidents = [-61, -59, 0, 30].map(
    (minutes): VendorIncident => ({
      ...{ id: uuidv7(), projectId, dependencyId, sourceId: `${minutes}`, title: 'Outage', severity: 'major' },
      ...{ status: 'investigating', components: [], sourceUrl: '', startedAt: at(minutes), resolvedAt: null },
      ...{ worst: 'down', announced: 'begin', announcedAt: at(minutes), missing: 0, createdAt: now, updatedAt: now },
    }),
  )
  const counted = await db.transaction(async tx => {
    await saveIncidents(tx, incidents)
    return countNotifications(tx, [dependencyId], { since: at(-60), until: now })
  })
  t.same([...counted], [[dependencyId, 2]])
})
