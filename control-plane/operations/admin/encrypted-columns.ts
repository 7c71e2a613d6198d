import { ENCRYPTED_MAIL_COLUMNS } from '../../accounts/email/outbox/store.ts'
import { ENCRYPTED_CHAT_TOKEN_COLUMNS } from '../../alerting/channels/chat-tokens.ts'
import { ENCRYPTED_CHANNEL_COLUMNS, listEncryptedColumns } from '../../alerting/channels/config/encrypted-config.ts'
import { ENCRYPTED_DELIVERY_COLUMNS } from '../../alerting/deliveries/rendering/encrypted-address.ts'
import type { EncryptedColumn, EncryptedRow } from '../../foundation/platform/crypto/reencrypt.ts'
import { createSigner } from '../../foundation/platform/crypto/signer.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { ENCRYPTED_IDEMPOTENCY_COLUMNS } from '../../foundation/web/server/idempotency.ts'
import { ENCRYPTED_SOURCE_COLUMNS } from '../../integrations/data-sources/configuration/encryption.ts'
import { ENCRYPTED_IMPORT_COLUMNS } from '../../integrations/import-export/jobs/job-store.ts'
import { ENCRYPTED_MONITOR_COLUMNS } from '../../monitoring/monitors/settings/encryption.ts'
import { hashAddress, SUBSCRIBER_KEY_PURPOSE } from '../../pages/subscribers/address.ts'
import { mergeDuplicateSubscriber } from '../../pages/subscribers/store.ts'
import type { SubscriptionKind } from '../../pages/subscribers/types.ts'

/** Subscribers are found by a keyed hash of their address, so that a copy of the table reveals no addresses. */
function addDerivedHash(column: EncryptedColumn): EncryptedColumn {
  if (column.column !== 'config') return column
  return {
    ...column,
    needs: [...column.needs, 'page_id', 'kind'],
    derived: computeAddressHash,
    resolveConflict: mergeSubscribers,
  }
}

function computeAddressHash(row: EncryptedRow, plain: string, key: Buffer) {
  const config = JSON.parse(plain) as { to?: string; url?: string }
  const address = { kind: row.kind as SubscriptionKind, text: (config.to ?? config.url)! }
  return { address_hash: hashAddress(address, createSigner(key, SUBSCRIBER_KEY_PURPOSE)) }
}

/** Merges a subscriber who subscribed again meanwhile. */
const mergeSubscribers = (db: Db, { id, page_id }: EncryptedRow, { address_hash }: Record<string, Buffer>) =>
  mergeDuplicateSubscriber(db, { id: id!, pageId: page_id!, addressHash: address_hash! })

/** The binding of the value by which a wrong SECRET_KEY is noticed (key-check-store.ts). */
export const KEY_CHECK_BINDING = 'secret key check'

/** Every column with values that are encrypted with SECRET_KEY. */
export const ENCRYPTED_COLUMNS: EncryptedColumn[] = [
  ...listEncryptedColumns('page_subscribers').map(addDerivedHash),
  ...ENCRYPTED_MONITOR_COLUMNS,
  ...ENCRYPTED_CHANNEL_COLUMNS,
  ...ENCRYPTED_CHAT_TOKEN_COLUMNS,
  ...ENCRYPTED_SOURCE_COLUMNS,
  ...ENCRYPTED_IDEMPOTENCY_COLUMNS,
  ...ENCRYPTED_MAIL_COLUMNS,
  ...ENCRYPTED_DELIVERY_COLUMNS,
  ...ENCRYPTED_IMPORT_COLUMNS,
  { table: 'secret_key_checks', column: 'value', key: ['id'], needs: [], getBinding: () => KEY_CHECK_BINDING },
]
