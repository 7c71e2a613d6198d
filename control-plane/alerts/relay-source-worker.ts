import type { Loop, LoopTools } from '../platform/loop.ts'
import { startPortionsLoop } from '../platform/portions-loop.ts'
import type { Db } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { bindOldSources } from './relay-source-store.ts'

/** The first round is at the start; later ones are for processes of the version before, during an upgrade. */
const EVERY_MS = 3_600_000

/** Enters ids at the relay of channels that are older than the table of these ids, in portions. */
export function startRelaySourceWorker({ db, secrets, ...tools }: LoopTools & { db: Db; secrets: Secrets }): Loop {
  return startPortionsLoop('relay-sources', EVERY_MS, tools, after => bindOldSources(db, secrets, after))
}
