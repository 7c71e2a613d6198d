import { monotonicMs, sleep } from './clock.ts'
import type { Db } from './postgres.ts'

/** The connection broke while a transaction was committed, and the database could not say in time what became of it. */
export class UnknownCommit extends Error {
  constructor(cause: unknown) {
    super('the database did not say whether it committed', { cause })
  }
}

/** Longer than the server keeps a transaction whose client is gone (IDLE_IN_TRANSACTION_MS in postgres.ts). */
const PATIENCE_MS = 13_000
const ASK_EVERY_MS = 200

/**
 * Whether a transaction was committed whose connection broke at that moment: the server knows it by its id. Throws an
 * UnknownCommit when it is not to be had within the patience.
 */
export async function wasCommitted(db: Db, id: string, cause: unknown, patienceMs = PATIENCE_MS): Promise<boolean> {
  const until = monotonicMs() + patienceMs
  do {
    const status = await statusOf(db, id).catch(() => null)
    if (status === 'committed') return true
    if (status === 'aborted') return false
    await sleep(ASK_EVERY_MS)
  } while (monotonicMs() < until)
  throw new UnknownCommit(cause)
}

async function statusOf(db: Db, id: string): Promise<string | null> {
  const { rows } = await db.raw<{ rows: { status: string | null }[] }>('SELECT pg_xact_status(?::xid8) AS status', [id])
  return rows[0]?.status ?? null
}

/** What PostgreSQL refuses has a severity; what has none never came to it, or its answer never came back. */
export const isFromServer = (error: unknown): boolean => (error as { severity?: string }).severity !== undefined
