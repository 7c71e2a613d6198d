import { groupBy } from '../../../../shared/group-by.ts'
import { type Db, isLockTimeout, setLockTimeout } from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import { type FinishedAttempt, finishDeliveries } from './lane-actions.ts'

/** For one lock. Another transaction may hold it for longer, e.g. of a process whose connection is silent. */
const LOCK_TIMEOUT_MS = 1_000
/** For the locks of all projects together: the round of the loop has to end in time. */
const ALL_LOCKS_TIMEOUT_MS = 5_000

/** `left`: what has to be written again, and why. */
export type FinishResult = { statuses: string[]; retries: Date[]; unwritten: FinishedAttempt[]; error: unknown }

/**
 * Writes down what requests came to, see finishDeliveries, in one transaction. Where another transaction holds rows that it
 * needs, in one for each project: so locked rows of a project hold up that project only.
 */
export async function finishByProject(
  db: Db,
  owner: string,
  finished: FinishedAttempt[],
  now: Date,
): Promise<FinishResult> {
  const written: FinishResult = { statuses: [], retries: [], unwritten: [], error: null }
  const finish = async (some: FinishedAttempt[]) => {
    const { statuses, retries } = await db.transaction(async tx => {
      await setLockTimeout(tx, LOCK_TIMEOUT_MS)
      return finishDeliveries(tx, owner, some, now)
    })
    written.statuses.push(...statuses)
    written.retries.push(...retries)
  }
  const leave = (some: FinishedAttempt[], error: unknown) => {
    written.unwritten.push(...some)
    written.error = error
  }
  try {
    await finish(finished)
    return written
  } catch (error) {
    if (!isLockTimeout(error)) {
      leave(finished, error)
      return written
    }
    written.error = error
  }
  const untilMs = monotonicMs() + ALL_LOCKS_TIMEOUT_MS
  // after another error, e.g. without PostgreSQL, the rest would only fail one by one
  const isOver = () => monotonicMs() > untilMs || !isLockTimeout(written.error)
  const failed: FinishedAttempt[] = []
  for (const some of groupBy(finished, ({ prepared }) => prepared.projectId).values()) {
    if (isOver()) leave(some, written.error)
    else
      await finish(some).catch(error => {
        failed.push(...some)
        written.error = error
      })
  }
  // those that were not tried come first the next time
  leave(failed, written.error)
  return written
}
