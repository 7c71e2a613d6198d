import { randomBytes } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { encryptConfig, encryptSigningSecret } from '../../control-plane/alerting/channels/config/encrypted-config.ts'
import { type DeliveryRow, getRequestAddress } from '../../control-plane/alerting/deliveries/log/log-entry.ts'
import { findDelivery } from '../../control-plane/alerting/deliveries/log/store.ts'
import { enqueueDeliveries } from '../../control-plane/alerting/deliveries/queue/enqueue-actions.ts'
import type { DeliveryWorker } from '../../control-plane/alerting/deliveries/worker.ts'
import { insertEvents } from '../../control-plane/alerting/events/store.ts'
import { createSecretCipher, type SecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createPostgres, type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabase } from './database.ts'
import { startWorker, type WorkerOptions } from './delivery-worker.ts'
import type { Teardown } from './teardown.ts'
import { insertTenant, type Tenant } from './tenant.ts'
import { waitFor } from './wait.ts'

export const SIGNING_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

type Entry = DeliveryRow & { requestUrl: string | null }

/** A queue on its own database, with functions to fill, process and inspect it. */
export type DeliveryQueue = {
  url: string
  db: Db
  tenant: Tenant
  secretKey: Buffer
  startWorker(t: Teardown, options?: WorkerOptions): DeliveryWorker
  /** a webhook channel; `config` in addition to its URL */
  channel(receiverUrl: string, config?: object): Promise<string>
  /** queues one event about each subject, in order, in one transaction; returns the delivery ids */
  send(channelId: string, ...subjects: string[]): Promise<string[]>
  /** the same with another clock */
  sendAt(now: Date, channelId: string, ...subjects: string[]): Promise<string[]>
  /** queues one event for each channel, in one transaction; returns the delivery ids */
  sendToAll(channelIds: readonly string[], subject: string): Promise<string[]>
  entry(id: string): Promise<Entry>
  ended(id: string): Promise<Entry>
  /** how many deliveries of a channel have each status */
  statuses(channelId: string): Promise<Record<string, number>>
}

export async function createDeliveryQueue(t: Teardown): Promise<DeliveryQueue> {
  const { url } = await createDatabase(t)
  const db = createPostgres(url)
  t.teardown(() => db.destroy())
  const secretKey = randomBytes(32)
  const secrets = createSecretCipher(secretKey)
  const tenant = await insertTenant(db)
  const { projectId } = tenant
  const entry = async (id: string) => {
    const row = (await findDelivery(db, projectId, id))!
    return { ...row, requestUrl: getRequestAddress(row, secrets) }
  }

  return {
    url,
    db,
    tenant,
    secretKey,
    entry,
    startWorker: (t, options = {}) => startWorker(t, { url, db, secretKey, ...options }),
    channel: (receiverUrl, config = {}) =>
      insertWebhookChannel(db, secrets, projectId, { url: receiverUrl, ...config }),
    send: (channelId, ...subjects) => send(db, projectId, [channelId], subjects, new Date()),
    sendToAll: (channelIds, subject) => send(db, projectId, channelIds, [subject], new Date()),
    sendAt: (now, channelId, ...subjects) => send(db, projectId, [channelId], subjects, now),
    ended: id =>
      waitFor(async () => ((await entry(id)).status === 'pending' ? null : entry(id)), {
        label: `the end of ${id}`,
      }),
    async statuses(channelId) {
      const sql = 'SELECT status, count(*) AS count FROM deliveries WHERE channel_id = ? GROUP BY status'
      const rows = await query<{ status: string; count: number }>(db, sql, [channelId])
      return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
    },
  }
}

/** A webhook channel with SIGNING_SECRET, which no rule selects by default. Returns its id. */
export async function insertWebhookChannel(
  db: Db,
  secrets: SecretCipher,
  projectId: string,
  config: object,
): Promise<string> {
  const channel = { id: uuidv7(), projectId }
  await execute(
    db,
    `INSERT INTO alert_channels (id, project_id, name, type, config, signing_secret, is_default, created_at, updated_at)
     VALUES (:id, :projectId, 'Hook', 'webhook', :config, :secret, false, now(), now())`,
    {
      ...channel,
      config: encryptConfig(config, channel, secrets),
      secret: encryptSigningSecret(SIGNING_SECRET, channel, secrets),
    },
  )
  return channel.id
}

/** Queues one event about each subject for each channel, in order, in one transaction. Returns the delivery ids. */
export function send(
  db: Db,
  projectId: string,
  channelIds: readonly string[],
  subjects: string[],
  now: Date,
): Promise<string[]> {
  const events = subjects.map((subject, number) => ({
    id: uuidv7(),
    projectId,
    name: 'monitor.down' as const,
    subject,
    data: { number } as never,
    occurredAt: now,
  }))
  return db.transaction(async tx => {
    await insertEvents(tx, events)
    const rows = channelIds.flatMap(channelId =>
      events.map(({ id, name, subject }) => ({ projectId, channelId, eventId: id, eventName: name, subject })),
    )
    return enqueueDeliveries(tx, rows, now)
  })
}
