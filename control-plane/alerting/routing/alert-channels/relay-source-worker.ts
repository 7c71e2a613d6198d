import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { startBatchLoop } from '../../../foundation/platform/time/batch-loop.ts'
import type { Loop, LoopTools } from '../../../foundation/platform/time/loop.ts'
import { bindMissingRelaySources } from './relay-source-store.ts'

/** The first round is at the start; later ones are for processes of the version before, during an upgrade. */
const ROUND_INTERVAL_MS = 3_600_000

/** Enters ids at the relay of channels that are older than the table of these ids, in portions. */
export function startRelaySourceWorker({ db, secrets, ...tools }: LoopTools & { db: Db; secrets: SecretCipher }): Loop {
  return startBatchLoop('relay-sources', ROUND_INTERVAL_MS, tools, after => bindMissingRelaySources(db, secrets, after))
}
