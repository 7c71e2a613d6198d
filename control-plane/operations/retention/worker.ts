import type { Db } from '../../foundation/platform/postgres/client.ts'
import { type Loop, type LoopTools, startLoop } from '../../foundation/platform/time/loop.ts'
import { createRetentionPass } from './actions.ts'
import type { RetentionSettings } from './settings.ts'

const INTERVAL_MS = 3_600_000

/**
 * Deletes rows that are older than the settings allow, every hour, in small batches with pauses. One process works at a
 * time.
 */
export function startRetentionWorker({
  db,
  retention,
  ...tools
}: LoopTools & { db: Db; retention: RetentionSettings }): Loop {
  return startLoop('retention', INTERVAL_MS, tools, createRetentionPass({ db, retention, ...tools }))
}
