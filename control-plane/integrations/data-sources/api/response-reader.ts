import { groupBy } from '../../../../shared/group-by.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { found } from '../../../foundation/web/server/errors.ts'
import { listChildMonitors, listFields } from '../configuration/field-store.ts'
import { findSource } from '../configuration/source-store.ts'
import type { StoredSource } from '../types.ts'
import { toSourceResponse } from './response.ts'

export type SourceReadContext = { db: Db; secrets: SecretCipher }

/** Returns a source in the form of the API. Throws 404. */
export async function getSourceResponse(context: SourceReadContext, projectId: string, id: string) {
  const source = found(isId(id) && (await findSource(context.db, projectId, id)), 'data source')
  return (await loadSourceResponses(context, [source]))[0]!
}

/** Returns sources with their fields and monitors, in the form of the API. */
export async function loadSourceResponses({ db, secrets }: SourceReadContext, sources: StoredSource[]) {
  const ids = sources.map(({ id }) => id)
  const [fields, children] = await Promise.all([listFields(db, ids), listChildMonitors(db, ids)])
  const fieldsBySource = groupBy(fields, ({ dataSourceId }) => dataSourceId)
  const childrenBySource = groupBy(children, ({ dataSourceId }) => dataSourceId)
  return sources.map(source => {
    const { id } = source
    return toSourceResponse(source, fieldsBySource.get(id) ?? [], childrenBySource.get(id) ?? [], secrets)
  })
}
