import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createPostgres, execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabase } from '../support/database.ts'
import { connectProbe, createTestFleet, PATIENT } from '../support/fleet.ts'
import { copyDatabase } from '../support/restored-database.ts'
import { insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const regions = ['eu-west']

const { url } = await createDatabase(t)
const db = createPostgres(url, 20)
t.teardown(() => db.destroy())
const fleet = await createTestFleet(t, { url, db, secrets: createSecretCipher(randomBytes(32)) })
const [same, changed, deleted] = (await insertMonitors(db, fleet.projectId, 3, { regions })) as [string, string, string]
const one = await fleet.start(PATIENT)
const probe = connectProbe(t, one.port, await fleet.token(), { name: 'a' })

const change = (id: string, timeoutMs: number) =>
  execute(db, 'UPDATE monitors SET timeout_ms = ?, config_version = config_version + 1 WHERE id = ?', [timeoutMs, id])
const has = (id: string) => probe.assigned.get(id)

t.test('After a restore probes check what the database has now', async t => {
  await waitFor(() => probe.assigned.size === 3, { label: 'three monitors' })
  const copy = await copyDatabase(t, url, 'copy')
  await change(changed, 4_000)
  await execute(db, 'UPDATE monitors SET deleted_at = now() WHERE id = ?', [deleted])
  const [lost] = (await insertMonitors(db, fleet.projectId, 1, { regions })) as [string]
  await waitFor(() => has(changed)?.configVersion === 2 && !has(deleted) && has(lost), {
    label: 'the changes that the restore loses',
  })
  const sent = probe.upserts.length
  const epoch = probe.has.epoch ?? 0

  await copy.restore()
  await waitFor(() => has(changed)?.configVersion === 1 && has(deleted) && !has(lost), { label: 'the former monitors' })
  t.equal(has(changed)?.spec?.timeoutMs, 5_000)
  t.notOk(
    probe.upserts.slice(sent).some(({ monitorId }) => monitorId === same),
    'unchanged monitors are not sent again',
  )
  await waitFor(() => (probe.has.epoch ?? 0) > epoch, { label: 'a higher epoch' })

  await change(changed, 3_000)
  await waitFor(() => has(changed)?.spec?.timeoutMs === 3_000, { label: 'a change after the restore' })
})
