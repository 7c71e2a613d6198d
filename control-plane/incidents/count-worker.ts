import { type Loop, type LoopTools, startLoop } from '../platform/loop.ts'
import type { Db } from '../platform/postgres.ts'
import { sumUpCounts } from './count-store.ts'

/** A project that changes ten thousand incidents in that time is still counted within milliseconds. */
const EVERY_MS = 600_000

/** Keeps the counts of incidents short. Any number of processes may do so at the same time. */
export function startIncidentCountWorker({ db, ...tools }: LoopTools & { db: Db }): Loop {
  return startLoop('incident-counts', EVERY_MS, tools, async signal => {
    while (!signal.aborted && (await sumUpCounts(db)));
  })
}
