import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { buildMonitor } from '../../control-plane/monitoring/monitors/actions.ts'
import { insertMonitors, updateMonitors } from '../../control-plane/monitoring/monitors/store.ts'
import { createDatabase } from '../support/database.ts'
import { insertTenant } from '../support/tenant.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())
const { projectId } = await insertTenant(db)

t.test('A large import writes 500 monitors at a time, so that no statement takes long to build', async t => {
  const secrets = createSecretCipher(randomBytes(32))
  const monitors = Array.from({ length: 1_201 }, (_, i) =>
    buildMonitor(secrets, projectId, { name: `Shop ${i}`, type: 'http', headers: { 'X-Shop': `${i}` } }, new Date()),
  )
  const rows: number[] = []
  await db.transaction(async tx => {
    tx.on('query', ({ bindings }: { bindings?: string[] }) => {
      if (bindings?.[0]) rows.push(JSON.parse(bindings[0]).length)
    })
    await insertMonitors(tx, monitors)
    await updateMonitors(
      tx,
      monitors.map(monitor => ({ ...monitor, name: 'Changed' })),
    )
    await updateMonitors(tx, [])
  })
  t.same(rows, [500, 500, 201, 500, 500, 201])
  const { rows: counted } = await db.raw(`SELECT count(*) AS total FROM monitors WHERE name = 'Changed'`)
  t.equal(counted[0].total, 1_201)
})
