import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { startBatchLoop } from '../../../foundation/platform/time/batch-loop.ts'
import type { Loop, LoopTools } from '../../../foundation/platform/time/loop.ts'
import { encryptPlainAddresses } from './address-encryption-store.ts'

/** The first round runs at the start. Later ones are for rows of the previous version during an upgrade. A round reads all deliveries. */
const ROUND_INTERVAL_MS = 3_600_000

/** Encrypts the addresses of old deliveries in batches, each in a short transaction. */
export function startAddressEncryption({ db, secrets, ...tools }: LoopTools & { db: Db; secrets: SecretCipher }): Loop {
  return startBatchLoop('encrypt-addresses', ROUND_INTERVAL_MS, tools, after =>
    encryptPlainAddresses(db, secrets, after),
  )
}
