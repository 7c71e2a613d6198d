import type { Loop, LoopTools } from '../platform/loop.ts'
import { startPortionsLoop } from '../platform/portions-loop.ts'
import type { Db } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { sealOldAddresses } from './seal-store.ts'

/** The first round is at the start; later ones are for processes of the version before, during an upgrade. A round reads all deliveries. */
const EVERY_MS = 3_600_000

/** Seals the addresses of old deliveries in portions, each a short transaction. */
export function startAddressSealing({ db, secrets, ...tools }: LoopTools & { db: Db; secrets: Secrets }): Loop {
  return startPortionsLoop('seal-addresses', EVERY_MS, tools, after => sealOldAddresses(db, secrets, after))
}
