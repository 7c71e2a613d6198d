import { groupBy } from '../../../shared/group-by.ts'
import {
  type Db,
  isDeadlock,
  isTenantError,
  setLockTimeout,
  type Tx,
} from '../../foundation/platform/postgres/client.ts'
import { monotonicMs } from '../../foundation/platform/time/clock.ts'

/** For one lock. Another transaction may hold it for longer, for example when the connection of its process is silent. */
export const LOCK_TIMEOUT_MS = 1_000
/** For the locks of all projects together, so that the round of the loop ends in time. */
const ALL_LOCKS_TIMEOUT_MS = 5_000

/** `unwritten`: results that must be written again; `error`: the reason. */
type WriteResult<Result, Written> = { written: Written[]; unwritten: Result[]; error: unknown }

/**
 * Writes results of requests:
 * 1. Write all of them in one transaction.
 * 2. If the rows of a project may be the reason of an error (they are locked, or PostgreSQL rejects them), write them in one
 *    transaction for each project, so that they delay that project only.
 * 3. Return what could not be written. After another error, for example without PostgreSQL, or when the time is over,
 *    the remaining projects are returned without being tried.
 */
export async function writeByProject<Result, Written>(
  db: Db,
  results: Result[],
  getProjectId: (result: Result) => string,
  write: (tx: Tx, some: Result[]) => Promise<Written>,
): Promise<WriteResult<Result, Written>> {
  const done: WriteResult<Result, Written> = { written: [], unwritten: [], error: null }
  const writeSome = async (some: Result[]) => {
    const written = await db.transaction(async tx => {
      await setLockTimeout(tx, LOCK_TIMEOUT_MS)
      return write(tx, some)
    })
    done.written.push(written)
  }
  const keep = (some: Result[], error: unknown) => {
    done.unwritten.push(...some)
    done.error = error
  }
  try {
    await writeSome(results)
    return done
  } catch (error) {
    if (!isProjectError(error)) {
      keep(results, error)
      return done
    }
    done.error = error
  }
  const untilMs = monotonicMs() + ALL_LOCKS_TIMEOUT_MS
  // after an error that is not about the rows of a project, the others would fail too
  const isOver = () => monotonicMs() > untilMs || !isProjectError(done.error)
  const failed: Result[] = []
  for (const some of groupBy(results, getProjectId).values()) {
    if (isOver()) keep(some, done.error)
    else
      await writeSome(some).catch(error => {
        failed.push(...some)
        done.error = error
      })
  }
  // projects that were not tried come first the next time
  keep(failed, done.error)
  return done
}

/** True for an error whose reason may be the rows of one project: locks, a deadlock, content that cannot be stored. */
export const isProjectError = (error: unknown): boolean => isTenantError(error) || isDeadlock(error)
