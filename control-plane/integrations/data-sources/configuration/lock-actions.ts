import { isId } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { found } from '../../../foundation/web/server/errors.ts'
import type { StoredSource } from '../types.ts'
import { lockSource } from './source-store.ts'

/** Runs `change` in a transaction that has locked the source against other requests and workers. Throws 404. */
export function withLockedSource<T>(
  db: Db,
  projectId: string,
  id: string,
  change: (tx: Tx, source: StoredSource) => Promise<T>,
): Promise<T> {
  return db.transaction(async tx => {
    const source = found(isId(id) && (await lockSource(tx, projectId, id)), 'data source')
    return change(tx, source)
  })
}
