import { v7 as uuidv7 } from 'uuid'
import { encryptConfig, encryptSigningSecret } from '../../control-plane/alerting/channels/config/encrypted-config.ts'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { type Db, execute } from '../../control-plane/foundation/platform/postgres/client.ts'

type ManyChannels = {
  projectId: string
  monitorIds: string[]
  count: number
  /** the URL of the webhooks; encrypted with `secretKey` */
  url: string
  secretKey: Buffer
}

const AT_ONCE = 5_000

/** Inserts thousands of webhook channels, each with a rule for all events of each monitor. */
export async function insertManyChannels(db: Db, { count, ...rest }: ManyChannels): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count)
    ids.push(...(await insertSome(db, { ...rest, count: Math.min(AT_ONCE, count - ids.length) })))
  return ids
}

async function insertSome(db: Db, { projectId, monitorIds, count, url, secretKey }: ManyChannels): Promise<string[]> {
  const secrets = createSecretCipher(secretKey)
  const channels = Array.from({ length: count }, () => ({ id: uuidv7(), projectId }))
  const ids = channels.map(({ id }) => id)
  await execute(
    db,
    `INSERT INTO alert_channels (id, project_id, name, type, config, signing_secret, is_default, created_at, updated_at)
     SELECT id, :projectId, 'Hook', 'webhook', config, secret, false, now(), now()
     FROM unnest(:ids::uuid[], :configs::bytea[], :secrets::bytea[]) AS row (id, config, secret)`,
    {
      projectId,
      ids,
      configs: channels.map(channel => encryptConfig({ url }, channel, secrets)),
      secrets: channels.map(channel =>
        encryptSigningSecret(`whsec_${Buffer.alloc(32, 7).toString('base64')}`, channel, secrets),
      ),
    },
  )
  await execute(
    db,
    `INSERT INTO alert_rules (id, project_id, monitor_id, alert_channel_id, on_down, on_recovery, on_degraded,
       created_at, updated_at)
     SELECT gen_random_uuid(), :projectId, monitor_id, channel_id, true, true, true, now(), now()
     FROM unnest(:ids::uuid[]) AS channel (channel_id), unnest(:monitorIds::uuid[]) AS monitor (monitor_id)`,
    { projectId, ids, monitorIds },
  )
  return ids
}
