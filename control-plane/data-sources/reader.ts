import { groupBy } from '../../shared/group-by.ts'
import { isId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { notFound } from '../web/errors.ts'
import { childMonitorsOf, fieldsOfSources } from './field-store.ts'
import { presentSource } from './present.ts'
import { findSource } from './store.ts'
import type { StoredSource } from './types.ts'

export type ReadContext = { db: Db; secrets: Secrets }

/** A source as the API answers it. Throws 404. */
export async function readSource(context: ReadContext, projectId: string, id: string) {
  const source = isId(id) ? await findSource(context.db, projectId, id) : null
  if (!source) throw notFound('data source')
  return (await readSources(context, [source]))[0]!
}

/** Sources with their fields and monitors, as the API answers them. */
export async function readSources({ db, secrets }: ReadContext, sources: StoredSource[]) {
  const ids = sources.map(({ id }) => id)
  const [fields, children] = await Promise.all([fieldsOfSources(db, ids), childMonitorsOf(db, ids)])
  const fieldsOf = groupBy(fields, ({ dataSourceId }) => dataSourceId)
  const childrenOf = groupBy(children, ({ dataSourceId }) => dataSourceId)
  return sources.map(source => {
    const { id } = source
    return presentSource(source, fieldsOf.get(id) ?? [], childrenOf.get(id) ?? [], secrets)
  })
}
