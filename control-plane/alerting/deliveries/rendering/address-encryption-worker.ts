import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { startBatchLoop } from '../../../foundation/platform/time/batch-loop.ts'
import type { Loop, LoopTools } from '../../../foundation/platform/time/loop.ts'
import { encryptPlainAddresses } from './address-encryption-store.ts'

/** The first round is at the start; later ones are for processes of the version before, during an upgrade. A round reads all deliveries. */
const ROUND_INTERVAL_MS = 3_600_000

/** Seals the addresses of old deliveries in portions, each a short transaction. */
export function startAddressEncryption({ db, secrets, ...tools }: LoopTools & { db: Db; secrets: SecretCipher }): Loop {
  return startBatchLoop('seal-addresses', ROUND_INTERVAL_MS, tools, after => encryptPlainAddresses(db, secrets, after))
}
