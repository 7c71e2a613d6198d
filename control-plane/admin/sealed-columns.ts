import { SEALED_IN_MAILS } from '../accounts/mails/store.ts'
import { SEALED_CHAT_TOKENS } from '../channels/chat-tokens.ts'
import { SEALED_IN_CHANNELS, sealedIn } from '../channels/sealed.ts'
import { SEALED_IN_DATA_SOURCES } from '../data-sources/sealed.ts'
import { SEALED_IN_DELIVERIES } from '../deliveries/address.ts'
import { SEALED_IN_MONITORS } from '../monitors/sealed.ts'
import type { Db } from '../platform/postgres.ts'
import type { SealedColumn, SealedRow } from '../platform/reseal.ts'
import { createSigner } from '../platform/signer.ts'
import { addressHash, PURPOSE } from '../status-pages/subscribers/address.ts'
import { joinRival } from '../status-pages/subscribers/store.ts'
import type { SubscriberKind } from '../status-pages/subscribers/types.ts'
import { SEALED_IN_IDEMPOTENCY } from '../web/idempotency.ts'

/** Subscribers are found by a hash that the key goes into, so that a copy of the table tells nothing. */
function withHash(column: SealedColumn): SealedColumn {
  if (column.column !== 'config') return column
  return { ...column, needs: [...column.needs, 'page_id', 'kind'], derived: hashOf, makeRoom: joinSubscribers }
}

function hashOf(row: SealedRow, plain: string, key: Buffer) {
  const config = JSON.parse(plain) as { to?: string; url?: string }
  const address = { kind: row.kind as SubscriberKind, text: (config.to ?? config.url)! }
  return { address_hash: addressHash(address, createSigner(key, PURPOSE)) }
}

/** Somebody who subscribed again meanwhile is one subscriber, not two. */
const joinSubscribers = (db: Db, { id, page_id }: SealedRow, { address_hash }: Record<string, Buffer>) =>
  joinRival(db, { id: id!, pageId: page_id!, addressHash: address_hash! })

/** Every column with values sealed by SECRET_KEY. */
export const SEALED_COLUMNS: SealedColumn[] = [
  ...sealedIn('page_subscribers').map(withHash),
  ...SEALED_IN_MONITORS,
  ...SEALED_IN_CHANNELS,
  ...SEALED_CHAT_TOKENS,
  ...SEALED_IN_DATA_SOURCES,
  ...SEALED_IN_IDEMPOTENCY,
  ...SEALED_IN_MAILS,
  ...SEALED_IN_DELIVERIES,
]
