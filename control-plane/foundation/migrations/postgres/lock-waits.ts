import { type Db, isDeadlock, isLockTimeout, query, setLockTimeout, type Tx } from '../../platform/postgres/client.ts'
import { sleep } from '../../platform/time/clock.ts'

/** What a migration waits for. `table`: null when it is not the lock of a table, or was not read in time. */
export type LockedTable = {
  table: string | null
  /** the sessions that hold it, or wait for it as well, by name and process id */
  heldBy: string[]
}

/**
 * How long a migration waits for a lock, also of a row: changes of many rows of a table that is in use belong in small batches. All later statements on the table wait behind it, so this is less than the processes
 * of the running version wait for the locks of their leases (operations/roles/pools.ts), and than any of their other limits.
 */
const LOCK_TIMEOUT_MS = 1_500
/** The pauses between two attempts. They become so long because what holds a lock may be a dump that takes an hour. */
const MIN_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 30_000
/** How often the lock that is waited for is read. */
const READ_INTERVAL_MS = 400

/**
 * Runs a transaction that waits only briefly for each lock. When it does not get one it is rolled back, reported and repeated
 * after a pause, until `stopping` is aborted: then this throws. `transaction` has to call `begin` first.
 */
export async function repeatUntilLocked(
  db: Db,
  transaction: (begin: (tx: Tx) => Promise<void>) => PromiseLike<unknown>,
  report: (lock: LockedTable) => void,
  stopping?: AbortSignal,
): Promise<void> {
  for (let pauseMs = MIN_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    const attempt = await runOnce(db, transaction)
    if (attempt.isDone) return
    report(attempt.lock)
    await sleep(pauseMs, stopping)
    if (stopping?.aborted)
      throw new Error('stopped while a migration waited for a lock; the database was not changed by it')
  }
}

type Attempt = { isDone: true } | { isDone: false; lock: LockedTable }

async function runOnce(
  db: Db,
  transaction: (begin: (tx: Tx) => Promise<void>) => PromiseLike<unknown>,
): Promise<Attempt> {
  const ended = new AbortController()
  let following: Promise<LockedTable | null> = Promise.resolve(null)
  const begin = async (tx: Tx) => {
    await setLockTimeout(tx, LOCK_TIMEOUT_MS)
    const [session] = await query<{ pid: number }>(tx, 'SELECT pg_backend_pid() AS pid')
    following = followAwaitedLock(db, session!.pid, ended.signal)
  }
  try {
    await transaction(begin)
    return { isDone: true }
  } catch (error) {
    if (!isLockTimeout(error) && !isDeadlock(error)) throw error
    ended.abort()
    return { isDone: false, lock: (await following) ?? { table: null, heldBy: [] } }
  } finally {
    ended.abort()
    await following
  }
}

const AWAITED_LOCK_SQL = `
  SELECT
    (SELECT CAST(CAST(relation AS regclass) AS text) FROM pg_locks
     WHERE pid = waiting.pid AND NOT granted AND relation IS NOT NULL LIMIT 1) AS "table",
    ARRAY(SELECT format('%s (process %s)', coalesce(nullif(application_name, ''), 'a session'), pid)
          FROM pg_stat_activity WHERE pid = ANY (waiting.blockers) ORDER BY pid) AS "heldBy"
  FROM (SELECT pid, pg_blocking_pids(pid) AS blockers FROM (SELECT CAST(? AS integer) AS pid) AS session) AS waiting
  WHERE cardinality(blockers) > 0`

/** Reads what a session waits for until `ended`. Returns the last lock. This is for the report only: an error is ignored. */
async function followAwaitedLock(db: Db, pid: number, ended: AbortSignal): Promise<LockedTable | null> {
  let last: LockedTable | null = null
  while (!ended.aborted) {
    await sleep(READ_INTERVAL_MS, ended)
    const [lock] = await query<LockedTable>(db, AWAITED_LOCK_SQL, [pid]).catch(() => [])
    last = lock ?? last
  }
  return last
}
