import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { found, notFound } from '../../../foundation/web/server/errors.ts'
import { addMonitorComponents } from '../../../pages/admin/components/component-actions.ts'
import { listChildMonitors, listFields } from '../configuration/field-store.ts'
import { findSource } from '../configuration/source-store.ts'
import type { SourcePublish } from './request-schema.ts'

/**
 * Adds a status page component for each monitor of these fields that the page does not show yet. Returns the ids of
 * the new components, in the order of the fields. Throws 404, and 409 when the page is full.
 */
export async function publishFields(
  db: Db,
  projectId: string,
  id: string,
  { status_page_id, group_id = null, field_ids }: SourcePublish,
  now: Date,
): Promise<string[]> {
  const source = found(isId(id) && (await findSource(db, projectId, id)), 'data source')
  const requestedIds = new Set(field_ids.map(fieldId => fieldId.toLowerCase()))
  const fields = (await listFields(db, [source.id])).filter(field => requestedIds.has(field.id))
  if (fields.length < requestedIds.size) throw notFound('field')
  const children = await listChildMonitors(db, [source.id])
  const monitorIds = fields.flatMap(field =>
    children.filter(({ fieldId }) => fieldId === field.id).map(({ monitorId }) => monitorId),
  )
  return addMonitorComponents(db, projectId, { pageId: status_page_id, groupId: group_id }, monitorIds, now)
}
