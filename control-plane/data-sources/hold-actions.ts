import { isId } from '../platform/ids.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import { notFound } from '../web/errors.ts'
import { lockSource } from './store.ts'
import type { StoredSource } from './types.ts'

/** Changes something of a source while nobody else does, no worker either. Throws 404. */
export function inSource<T>(
  db: Db,
  projectId: string,
  id: string,
  change: (tx: Tx, source: StoredSource) => Promise<T>,
): Promise<T> {
  return db.transaction(async tx => {
    const source = isId(id) ? await lockSource(tx, projectId, id) : null
    if (!source) throw notFound('data source')
    return change(tx, source)
  })
}
