import { type Loop, type LoopTools, startLoop } from '../platform/loop.ts'
import type { Db } from '../platform/postgres.ts'
import { createPass } from './actions.ts'
import type { Retention } from './settings.ts'

const EVERY_MS = 3_600_000

/**
 * Deletes what is older than the settings say, every hour, in small batches with pauses as long as the work before. One
 * process does it at a time.
 */
export function startRetentionWorker({ db, retention, ...tools }: LoopTools & { db: Db; retention: Retention }): Loop {
  return startLoop('retention', EVERY_MS, tools, createPass({ db, retention, ...tools }))
}
