import { groupBy } from '../../../../shared/group-by.ts'
import { type Db, isDeadlock, isLockTimeout, setLockTimeout } from '../../../foundation/platform/postgres/client.ts'
import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import { type FinishedAttempt, finishDeliveries } from './lane-actions.ts'

/** For one lock. Another transaction may hold it for longer, for example when the connection of its process is silent. */
const LOCK_TIMEOUT_MS = 1_000
/** For the locks of all projects together, so that the round of the loop ends in time. */
const ALL_LOCKS_TIMEOUT_MS = 5_000

/** `unwritten`: attempts that must be written again; `error`: the reason. */
type FinishResult = { statuses: string[]; retries: Date[]; unwritten: FinishedAttempt[]; error: unknown }

/**
 * Records the results of requests (see finishDeliveries):
 * 1. Write all of them in one transaction.
 * 2. If another transaction holds a needed row for too long, or after a deadlock, write them in one transaction for each project, so that
 *    locked rows of a project delay that project only.
 * 3. Return what could not be written. After another error, for example without PostgreSQL, or when the time is over,
 *    the remaining projects are returned without being tried.
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
  const keep = (some: FinishedAttempt[], error: unknown) => {
    written.unwritten.push(...some)
    written.error = error
  }
  try {
    await finish(finished)
    return written
  } catch (error) {
    if (!isOfLocks(error)) {
      keep(finished, error)
      return written
    }
    written.error = error
  }
  const untilMs = monotonicMs() + ALL_LOCKS_TIMEOUT_MS
  // after an error that is not about locks, the others would fail too
  const isOver = () => monotonicMs() > untilMs || !isOfLocks(written.error)
  const failed: FinishedAttempt[] = []
  for (const some of groupBy(finished, ({ prepared }) => prepared.projectId).values()) {
    if (isOver()) keep(some, written.error)
    else
      await finish(some).catch(error => {
        failed.push(...some)
        written.error = error
      })
  }
  // projects that were not tried come first the next time
  keep(failed, written.error)
  return written
}

const isOfLocks = (error: unknown) => isLockTimeout(error) || isDeadlock(error)
