import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { withActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import { createRoute, deleteRoute, fullListRoute, updateRoute } from '../../../foundation/web/resource-routes.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { found } from '../../../foundation/web/server/errors.ts'
import { slicePage } from '../../../foundation/web/validation/pagination.ts'
import { changeField, createField, deleteField, type FieldTools } from '../configuration/field-actions.ts'
import { listChildMonitors, listFields } from '../configuration/field-store.ts'
import { findSource } from '../configuration/source-store.ts'
import type { StoredField } from '../types.ts'
import { FieldCreate, FieldUpdate } from './request-schema.ts'
import { toFieldResponse, toFieldResponses } from './response.ts'
import { FieldRecord } from './response-schema.ts'

const tags = ['Data sources']

/** Routes of the fields of a data source (docs/design/data-sources.md#api). */
export function fieldRoutes(app: App, tools: FieldTools): void {
  readRoutes(app, tools.db)
  writeRoutes(app, tools)
}

function readRoutes(app: App, db: Db): void {
  fullListRoute(app, '/data-sources/:id/fields', {
    summary: 'List the fields of a data source',
    description: 'In display order. Returns all fields unless `page` or `per_page` is given.',
    tags,
    record: FieldRecord,
    list: async (request, bounds) => {
      const { id } = request.params
      const source = found(isId(id) && (await findSource(db, getCaller(request).projectId, id)), 'data source')
      const fields = await listFields(db, [source.id])
      return slicePage(toFieldResponses(fields, await listChildMonitors(db, [source.id])), bounds)
    },
  })
}

function writeRoutes(app: App, tools: FieldTools): void {
  const buildResponse = async (field: StoredField) => {
    const children = await listChildMonitors(tools.db, [field.dataSourceId])
    return toFieldResponse(
      field,
      children.filter(({ fieldId }) => fieldId === field.id),
    )
  }

  createRoute(app, '/data-sources/:id/fields', {
    summary: 'Add a field to a data source',
    description: 'The data source is fetched immediately.',
    tags,
    body: FieldCreate,
    record: FieldRecord,
    errors: [400, 404, 409],
    create: async request => {
      const { projectId } = getCaller(request)
      const { id } = request.params
      return buildResponse(await createField(withActor(tools, request), projectId, id, request.body, now()))
    },
  })

  updateRoute(app, '/data-sources/:id/fields/:field_id', {
    summary: 'Update a field',
    description: 'Omitted properties keep their values. The data source is fetched immediately.',
    tags,
    body: FieldUpdate,
    record: FieldRecord,
    update: async request => {
      const { id, field_id } = request.params
      const { projectId } = getCaller(request)
      return buildResponse(await changeField(withActor(tools, request), projectId, id, field_id, request.body, now()))
    },
  })

  deleteRoute(app, '/data-sources/:id/fields/:field_id', {
    summary: 'Delete a field',
    description: 'The monitors of the field are archived.',
    tags,
    remove: request => {
      const { id, field_id } = request.params
      return deleteField(withActor(tools, request), getCaller(request).projectId, id, field_id, now())
    },
  })
}
