import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { writeByProject } from '../project-write-actions.ts'
import { type FinishedAttempt, finishDeliveries } from './lane-actions.ts'

/** `unwritten`: attempts that must be written again; `error`: the reason. */
type FinishResult = { statuses: string[]; retries: Date[]; unwritten: FinishedAttempt[]; error: unknown }

/** Records the results of requests (see finishDeliveries). Locked rows of a project delay that project only. */
export async function finishByProject(
  db: Db,
  owner: string,
  finished: FinishedAttempt[],
  now: Date,
): Promise<FinishResult> {
  const { written, unwritten, error } = await writeByProject(
    db,
    finished,
    ({ prepared }) => prepared.projectId,
    (tx, some) => finishDeliveries(tx, owner, some, now),
  )
  return {
    statuses: written.flatMap(one => one.statuses),
    retries: written.flatMap(one => one.retries),
    unwritten,
    error,
  }
}
