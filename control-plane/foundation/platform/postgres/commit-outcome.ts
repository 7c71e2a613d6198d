import type { Knex } from 'knex'
import { monotonicMs, sleep } from '../time/clock.ts'

/** The connection broke while a transaction was committed, and the database could not say in time what became of it. */
export class UnknownCommitError extends Error {
  constructor(cause: unknown) {
    super('the database did not say whether it committed', { cause })
  }
}

/** Longer than the server keeps a transaction whose client is gone (IDLE_IN_TRANSACTION_TIMEOUT_MS in client.ts). */
const RESOLVE_TIMEOUT_MS = 13_000
const POLL_INTERVAL_MS = 200

/**
 * Whether a transaction was committed whose connection broke at that moment: the server knows it by its id. Throws an
 * UnknownCommit when it is not to be had within the patience.
 */
export async function wasCommitted(
  db: Knex,
  id: string,
  cause: unknown,
  patienceMs = RESOLVE_TIMEOUT_MS,
): Promise<boolean> {
  const until = monotonicMs() + patienceMs
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

/** What PostgreSQL refuses has a severity; what has none never came to it, or its answer never came back. */
export const isServerError = (error: unknown): boolean => (error as { severity?: string }).severity !== undefined
