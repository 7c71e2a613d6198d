import type { Knex } from 'knex'
import { monotonicMs, sleep } from '../time/clock.ts'

/** The connection broke during a commit, and the outcome could not be learned in time. */
export class UnknownCommitError extends Error {
  constructor(cause: unknown) {
    super('the outcome of a commit is unknown', { cause })
  }
}

/** Longer than the server keeps a transaction whose client is gone (IDLE_IN_TRANSACTION_TIMEOUT_MS in client.ts). */
const RESOLVE_TIMEOUT_MS = 13_000
const POLL_INTERVAL_MS = 200

/**
 * Whether a transaction was committed whose connection broke at that moment, by its id (docs/design/storage.md#unknown-commits).
 * Throws an UnknownCommitError when that cannot be learned within `timeoutMs`.
 */
export async function wasCommitted(
  db: Knex,
  id: string,
  cause: unknown,
  timeoutMs = RESOLVE_TIMEOUT_MS,
): Promise<boolean> {
  const until = monotonicMs() + timeoutMs
  do {
    const status = await findTransactionStatus(db, id).catch(() => null)
    if (status === 'committed') return true
    if (status === 'aborted') return false
    await sleep(POLL_INTERVAL_MS)
  } while (monotonicMs() < until)
  throw new UnknownCommitError(cause)
}

async function findTransactionStatus(db: Knex, id: string): Promise<string | null> {
  const { rows } = await db.raw<{ rows: { status: string | null }[] }>('SELECT pg_xact_status(?::xid8) AS status', [id])
  return rows[0]?.status ?? null
}

/** An error of PostgreSQL has a severity. One without never reached the server, or its answer was lost. */
export const isServerError = (error: unknown): boolean => (error as { severity?: string }).severity !== undefined
