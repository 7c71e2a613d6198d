import { randomBytes } from 'node:crypto'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { encryptConfig } from '../../control-plane/alerting/channels/config/encrypted-config.ts'
import { bindMissingRelaySources } from '../../control-plane/alerting/routing/alert-channels/relay-source-store.ts'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabase } from '../support/database.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { insertTenant } from '../support/tenant.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())
const secrets = createSecretCipher(randomBytes(32))
const { projectId } = await insertTenant(db)

/** Channels as a process of the previous version writes them. Returns their ids. */
async function insertOldChannels(count: number, buildConfig: (n: number) => object, by = secrets) {
  const channels = Array.from({ length: count }, (_, n) => ({ id: uuidv7(), config: buildConfig(n) }))
  await execute(
    db,
    `INSERT INTO alert_channels (id, project_id, name, type, config, is_default, created_at, updated_at)
     SELECT id, :projectId, 'Hook', 'webhook', config, false, now(), now()
     FROM unnest(:ids::uuid[], :configs::bytea[]) AS r (id, config)`,
    {
      projectId,
      ids: channels.map(({ id }) => id),
      configs: channels.map(({ id, config }) => encryptConfig(config, { id, projectId }, by)),
    },
  )
  return channels.map(({ id }) => id)
}

async function bindAll() {
  for (let after: string | null = ''; after !== null; ) after = await bindMissingRelaySources(db, secrets, after)
}

const listed = () =>
  query<{ id: string; source: string }>(
    db,
    'SELECT channel_id AS id, relay_source_id AS source FROM relay_sources ORDER BY channel_id',
  )

t.test(
  'Relay sources of old channels are stored in batches, by several processes, also after a config that cannot be decrypted',
  async t => {
    const ids = await insertOldChannels(1_200, n => (n % 3 === 0 ? { relay_source_id: `source-${n}` } : {}))
    await insertOldChannels(1, () => ({ relay_source_id: 'unreadable' }), createSecretCipher(randomBytes(32)))
    const [last = ''] = await insertOldChannels(1, () => ({ relay_source_id: 'last' }))
    await Promise.all([bindAll(), bindAll()])
    const expected = ids.flatMap((id, n) => (n % 3 === 0 ? [{ id, source: `source-${n}` }] : []))
    t.same(await listed(), [...expected, { id: last, source: 'last' }])
  },
)

t.test('A channel that another transaction is changing is skipped', async t => {
  const [id = ''] = await insertOldChannels(1, () => ({ relay_source_id: 'before' }))
  const config = encryptConfig({}, { id, projectId }, secrets)
  const before = await listed()
  const change = await openTransaction(db)
  await execute(change, 'UPDATE alert_channels SET config = ? WHERE id = ?', [config, id])
  await bindAll()
  await change.commit()
  t.same(await listed(), before)
})
