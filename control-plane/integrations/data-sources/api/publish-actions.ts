import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { notFound } from '../../../foundation/web/server/errors.ts'
import { addMonitorComponents } from '../../../pages/admin/components/component-actions.ts'
import { listChildMonitors, listFields } from '../configuration/field-store.ts'
import { findSource } from '../configuration/source-store.ts'
import type { SourcePublish } from './request-schema.ts'

/**
 * Puts a component on a status page for each monitor of some fields that is not there yet (specification, "Data
 * sources"). Answers the ids of the components, in the order of the fields. Throws 404, and 409 when the page is full.
 */
export async function publishFields(
  db: Db,
  projectId: string,
  id: string,
  { status_page_id, group_id = null, field_ids }: SourcePublish,
  now: Date,
): Promise<string[]> {
  const source = isId(id) ? await findSource(db, projectId, id) : null
  if (!source) throw notFound('data source')
  const wanted = new Set(field_ids.map(fieldId => fieldId.toLowerCase()))
  const fields = (await listFields(db, [source.id])).filter(field => wanted.has(field.id))
  if (fields.length < wanted.size) throw notFound('field')
  const children = await listChildMonitors(db, [source.id])
  const monitorIds = fields.flatMap(field =>
    children.filter(({ fieldId }) => fieldId === field.id).map(({ monitorId }) => monitorId),
  )
  return addMonitorComponents(db, projectId, { pageId: status_page_id, groupId: group_id }, monitorIds, now)
}
