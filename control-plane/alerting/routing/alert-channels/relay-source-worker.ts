import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { startBatchLoop } from '../../../foundation/platform/time/batch-loop.ts'
import type { Loop, LoopTools } from '../../../foundation/platform/time/loop.ts'
import { bindMissingRelaySources } from './relay-source-store.ts'

/** The first round runs at the start. Later ones are for rows of the previous version during an upgrade. */
const ROUND_INTERVAL_MS = 3_600_000

/** Stores the relay sources of channels that are older than the table `relay_sources`, in batches. */
export function startRelaySourceWorker({ db, secrets, ...tools }: LoopTools & { db: Db; secrets: SecretCipher }): Loop {
  return startBatchLoop('relay-sources', ROUND_INTERVAL_MS, tools, after => bindMissingRelaySources(db, secrets, after))
}
