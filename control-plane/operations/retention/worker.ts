import type { Db } from '../../foundation/platform/postgres/client.ts'
import { type Loop, type LoopTools, startLoop } from '../../foundation/platform/time/loop.ts'
import { createRetentionPass } from './actions.ts'
import type { RetentionSettings } from './settings.ts'

const INTERVAL_MS = 3_600_000

/**
 * Deletes what is older than the settings say, every hour, in small batches with pauses as long as the work before. One
 * process does it at a time.
 */
export function startRetentionWorker({
  db,
  retention,
  ...tools
}: LoopTools & { db: Db; retention: RetentionSettings }): Loop {
  return startLoop('retention', INTERVAL_MS, tools, createRetentionPass({ db, retention, ...tools }))
}
