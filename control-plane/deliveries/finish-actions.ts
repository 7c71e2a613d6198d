import { groupBy } from '../../shared/group-by.ts'
import { monotonicMs } from '../platform/clock.ts'
import { type Db, isLockTimeout, waitAtMost } from '../platform/postgres.ts'
import { type Finished, finishDeliveries } from './lane-actions.ts'

/** For one lock. Another transaction may hold it for longer, e.g. of a process whose connection is silent. */
const LOCK_MS = 1_000
/** For the locks of all projects together: the round of the loop has to end in time. */
const HELD_MS = 5_000

/** `left`: what has to be written again, and why. */
export type Written = { statuses: string[]; retries: Date[]; left: Finished[]; error: unknown }

/**
 * Writes down what requests came to, see finishDeliveries, in one transaction. Where another transaction holds rows that it
 * needs, in one for each project: so locked rows of a project hold up that project only.
 */
export async function finishByProject(db: Db, owner: string, finished: Finished[], now: Date): Promise<Written> {
  const written: Written = { statuses: [], retries: [], left: [], error: null }
  const finish = async (some: Finished[]) => {
    const { statuses, retries } = await db.transaction(async tx => {
      await waitAtMost(tx, LOCK_MS)
      return finishDeliveries(tx, owner, some, now)
    })
    written.statuses.push(...statuses)
    written.retries.push(...retries)
  }
  const leave = (some: Finished[], error: unknown) => {
    written.left.push(...some)
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
  const untilMs = monotonicMs() + HELD_MS
  // after another error, e.g. without PostgreSQL, the rest would only fail one by one
  const isOver = () => monotonicMs() > untilMs || !isLockTimeout(written.error)
  const failed: Finished[] = []
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
