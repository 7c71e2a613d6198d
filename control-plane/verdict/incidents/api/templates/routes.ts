import { isId } from '../../../../foundation/platform/ids.ts'
import type { Db } from '../../../../foundation/platform/postgres/client.ts'
import { now } from '../../../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../../foundation/web/auth/authentication.ts'
import {
  createRoute,
  deleteRoute,
  listRoute,
  readRoute,
  updateRoute,
} from '../../../../foundation/web/resource-routes.ts'
import type { App } from '../../../../foundation/web/server/app.ts'
import { found } from '../../../../foundation/web/server/errors.ts'
import { changeTemplate, createTemplate } from './actions.ts'
import { IncidentTemplate, TemplateCreate, TemplateUpdate } from './schema.ts'
import { findTemplate, listTemplates, removeTemplate, type StoredTemplate, TEMPLATE_VERSION } from './store.ts'

const tags = ['Incidents']
const PATH = '/incident-templates'

/** The routes of `/incident-templates` (docs/design/incidents.md#templates). */
export function incidentTemplateRoutes(app: App, { db }: { db: Db }): void {
  listRoute(app, PATH, {
    summary: 'List incident templates, by name',
    tags,
    record: IncidentTemplate,
    list: async (request, bounds) => {
      const { templates, total } = await listTemplates(db, getCaller(request).projectId, bounds)
      return { data: templates.map(toTemplateResponse), total }
    },
  })

  readRoute(app, `${PATH}/:id`, {
    version: TEMPLATE_VERSION,
    summary: 'Get an incident template',
    tags,
    record: IncidentTemplate,
    read: async request => {
      const { id } = request.params
      const template = isId(id) && (await findTemplate(db, getCaller(request).projectId, id))
      return toTemplateResponse(found(template, 'incident template'))
    },
  })

  createRoute(app, PATH, {
    version: TEMPLATE_VERSION,
    summary: 'Create an incident template',
    description: 'A text for recurring updates, with the values that it proposes. A project can have 100.',
    tags,
    body: TemplateCreate,
    record: IncidentTemplate,
    errors: [400, 409],
    create: async request => {
      const { projectId } = getCaller(request)
      return toTemplateResponse(await createTemplate(withRequestActor(db, request), projectId, request.body, now()))
    },
  })

  updateRoute(app, `${PATH}/:id`, {
    version: TEMPLATE_VERSION,
    summary: 'Update an incident template; omitted fields stay the same',
    tags,
    body: TemplateUpdate,
    record: IncidentTemplate,
    errors: [400, 404, 409],
    update: async request => {
      const { params, body } = request
      const { projectId } = getCaller(request)
      return toTemplateResponse(await changeTemplate(withRequestActor(db, request), projectId, params.id, body, now()))
    },
  })

  deleteRoute(app, `${PATH}/:id`, {
    version: TEMPLATE_VERSION,
    summary: 'Delete an incident template',
    tags,
    remove: async request => {
      const { id } = request.params
      const isGone = isId(id) && (await removeTemplate(withRequestActor(db, request), getCaller(request).projectId, id))
      return found(isGone, 'incident template')
    },
  })
}

const toTemplateResponse = ({ id, name, title, severity, status, message, createdAt, updatedAt }: StoredTemplate) => ({
  ...{ id, name, title, severity, status, message, created_at: createdAt, updated_at: updatedAt },
})
