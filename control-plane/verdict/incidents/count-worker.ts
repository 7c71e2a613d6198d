import type { Db } from '../../foundation/platform/postgres/client.ts'
import { type Loop, type LoopTools, startLoop } from '../../foundation/platform/time/loop.ts'
import { compactIncidentCounts } from './count-store.ts'

/** A project that changes ten thousand incidents in this time is still counted within milliseconds. */
const COMPACTION_INTERVAL_MS = 600_000

/** Keeps the table of incident counts small. Any number of processes may run it. */
export function startIncidentCountWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  return startLoop('incident-counts', COMPACTION_INTERVAL_MS, tools, async signal => {
    while (!signal.aborted && (await compactIncidentCounts(db)));
  })
}
