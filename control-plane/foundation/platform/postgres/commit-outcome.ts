import type { Knex } from 'knex'
import { monotonicMs, sleep } from '../time/clock.ts'
import { SERVER_HISTORY_SQL } from './server-history.ts'

/** The connection broke during a commit, and the outcome could not be learned in time. */
export class UnknownCommitError extends Error {
  constructor(cause: unknown) {
    super('the outcome of a commit is unknown', { cause })
  }
}

/** A transaction whose commit was sent. `id` and `history` are of the server that received it. */
export type PendingCommit = { id: string; history: string }

/** Longer than the server keeps a transaction whose client is gone (IDLE_IN_TRANSACTION_TIMEOUT_MS in client.ts). */
const RESOLVE_TIMEOUT_MS = 13_000
const POLL_INTERVAL_MS = 200

/**
 * Whether a transaction was committed whose connection broke at that moment (docs/design/storage.md#unknown-commits).
 * Throws an UnknownCommitError when that cannot be learned within `timeoutMs`.
 */
export async function wasCommitted(
  db: Knex,
  sent: PendingCommit,
  cause: unknown,
  timeoutMs = RESOLVE_TIMEOUT_MS,
): Promise<boolean> {
  const until = monotonicMs() + timeoutMs
  do {
    const now = await findTransactionStatus(db, sent.id).catch(() => null)
    // a committed transaction keeps its id in every history, so this one was not committed
    if (now?.status === 'aborted') return false
    if (now?.status === 'committed') {
      if (now.history === sent.history) return true
      // after a failover or a crash another transaction may have this id
      throw new UnknownCommitError(cause)
    }
    await sleep(POLL_INTERVAL_MS)
  } while (monotonicMs() < until)
  throw new UnknownCommitError(cause)
}

type TransactionStatus = { status: string | null; history: string }

async function findTransactionStatus(db: Knex, id: string): Promise<TransactionStatus | undefined> {
  const sql = `SELECT pg_xact_status(?::xid8) AS status, ${SERVER_HISTORY_SQL} AS history`
  const { rows } = await db.raw<{ rows: TransactionStatus[] }>(sql, [id])
  return rows[0]
}

/** An error of PostgreSQL has a severity. One without never reached the server, or its answer was lost. */
export const isServerError = (error: unknown): boolean => (error as { severity?: string }).severity !== undefined
