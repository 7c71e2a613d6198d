import { DEFAULT_LIMITS } from '../../control-plane/accounts/plans/plans.ts'
import { encryptConfig } from '../../control-plane/alerting/channels/config/encrypted-config.ts'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createSigner } from '../../control-plane/foundation/platform/crypto/signer.ts'
import { newId } from '../../control-plane/foundation/platform/ids.ts'
import { createMailer } from '../../control-plane/foundation/platform/mail/mailer.ts'
import { type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import type { SubscriberTools } from '../../control-plane/pages/subscribers/actions.ts'
import { ensureMailChannel } from '../../control-plane/pages/subscribers/store.ts'
import { createDeliveryQueue, type DeliveryQueue } from './delivery-queue.ts'
import { type Smtp, startSmtp } from './smtp.ts'
import { insertStatusPage } from './status-pages.ts'
import type { Teardown } from './teardown.ts'
import { insertMonitor } from './verdict.ts'

export const PUBLIC_URL = 'http://picket.test'

export type SubscriberFixture = DeliveryQueue & {
  tools: SubscriberTools
  smtp: Smtp
  page: { id: string; name: string; publicUrl: string }
  /** inserts confirmed mail subscribers; returns their ids in order */
  addSubscribers(count: number, componentIds?: string[] | null): Promise<string[]>
  /** a component with a monitor of its own */
  addComponent(name: string): Promise<{ componentId: string; monitorId: string }>
}

/** A published page with a queue of its own, whose worker sends to a real mail server. */
export async function createSubscriberFixture(t: Teardown): Promise<SubscriberFixture> {
  const smtp = await startSmtp(t)
  const mailer = createMailer(smtp.url, 'Picket <picket@example.com>')
  t.teardown(mailer.close)
  const delivering = await createDeliveryQueue(t)
  const { db, tenant, secretKey } = delivering
  const secrets = createSecretCipher(secretKey)
  const { projectId } = tenant
  const id = await insertStatusPage(db, projectId, 'acme')
  delivering.startWorker(t, { mailer })
  return {
    ...delivering,
    smtp,
    tools: { db, secrets, sign: createSigner(secretKey, 'page subscribers'), limits: DEFAULT_LIMITS },
    page: { id, name: 'acme', publicUrl: `${PUBLIC_URL}/status/acme` },
    async addSubscribers(count, componentIds = null) {
      const channelId = await db.transaction(tx => ensureMailChannel(tx, { id, projectId }, newId(), new Date()))
      const rows = Array.from({ length: count }, () => {
        const owner = { id: newId(), projectId }
        const config = encryptConfig({ to: `${owner.id.slice(-12)}@example.com`, key: 'k' }, owner, secrets)
        return { id: owner.id, config: config.toString('hex') }
      })
      await insertSubscribers(db, { projectId, pageId: id, channelId, componentIds, rows })
      return rows.map(row => row.id)
    },
    async addComponent(name) {
      const componentId = newId()
      const monitorId = await insertMonitor(db, projectId, { name })
      await execute(
        db,
        `INSERT INTO status_page_components (id, page_id, name, monitor_id, display_order, status, created_at, updated_at)
         VALUES (:componentId, :id, :name, :monitorId, 1, 'unknown', now(), now())`,
        { componentId, id, name, monitorId },
      )
      return { componentId, monitorId }
    },
  }
}

type NewSubscribers = {
  projectId: string
  pageId: string
  channelId: string
  componentIds: string[] | null
  rows: { id: string; config: string }[]
}

/** Inserts confirmed mail subscribers. `config`: the encrypted address, in hex. */
export async function insertSubscribers(db: Db, { rows, ...common }: NewSubscribers): Promise<void> {
  await query(
    db,
    `INSERT INTO page_subscribers (id, project_id, page_id, channel_id, kind, address_hash, config, component_ids,
       asked_at, confirmed_at, created_at, updated_at)
     SELECT id, :projectId, :pageId, :channelId, 'email', sha256(id::text::bytea), decode(config, 'hex'),
       CAST(:componentIds AS uuid[]), now(), now(), now(), now()
     FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS row (id uuid, config text)`,
    { ...common, rows: JSON.stringify(rows) },
  )
}
