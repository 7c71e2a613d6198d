import { isId } from '../../foundation/platform/ids.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { found } from '../../foundation/web/server/errors.ts'
import { findMonitor } from '../../monitoring/monitors/store.ts'
import type { StoredMonitor } from '../../monitoring/monitors/types.ts'

/** A monitor of the project. Throws 404 for a foreign, unknown, deleted or malformed id. */
export async function getOwnMonitor(db: Db, projectId: string, id: string): Promise<StoredMonitor> {
  return found(isId(id) && (await findMonitor(db, projectId, id)), 'monitor')
}
