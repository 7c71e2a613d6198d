import type { Db } from '../../control-plane/foundation/platform/postgres/client.ts'
import { openTransaction } from './open-transaction.ts'

/** The number of statements that match during `work`, and the most of them that ran at the same time. */
export async function countMostAtOnce(
  db: Db,
  work: () => Promise<unknown>,
  matches: (sql: string) => boolean,
): Promise<{ statements: number; atOnce: number }> {
  // open connections, so that statements that may run together do
  const open = await Promise.all(Array.from({ length: 4 }, () => openTransaction(db)))
  await Promise.all(open.map(tx => tx.commit()))
  const running = new Set<string>()
  const found = { statements: 0, atOnce: 0 }
  const begin = ({ sql, __knexUid: id }: { sql: string; __knexUid: string }) => {
    if (!matches(sql)) return
    running.add(id)
    found.statements++
    found.atOnce = Math.max(found.atOnce, running.size)
  }
  const end = (_answer: unknown, { __knexUid: id }: { __knexUid: string }) => void running.delete(id)
  db.on('query', begin)
  db.on('query-response', end)
  await work()
  db.off('query', begin)
  db.off('query-response', end)
  return found
}
