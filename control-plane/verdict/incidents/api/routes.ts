import { isId } from '../../../foundation/platform/ids.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { withActor, withRequestActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import { createRoute, deleteRoute, listRoute, readRoute, updateRoute } from '../../../foundation/web/resource-routes.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { found } from '../../../foundation/web/server/errors.ts'
import { parseListFilter } from '../../../foundation/web/validation/list-filter.ts'
import { dataSchema, IdParams, responseSchemas } from '../../../foundation/web/validation/schemas.ts'
import { findMonitor } from '../../../monitoring/monitors/store.ts'
import { INCIDENT_STATUSES, SEVERITIES } from '../lifecycle.ts'
import { deleteIncident, findIncident, INCIDENT_VERSION, listIncidents } from '../store.ts'
import { acknowledgeIncident, changeIncident, type IncidentTools, openIncident } from './actions.ts'
import { listPossibleCauses } from './possible-cause-store.ts'
import { Incident, IncidentChange, IncidentCreate, IncidentQuery, IncidentWithCauses } from './schemas.ts'

const tags = ['Incidents']

/** The routes of `/incidents` (docs/design/incidents.md). */
export function incidentRoutes(app: App, tools: IncidentTools): void {
  readRoutes(app, tools)
  writeRoutes(app, tools)
}

function readRoutes(app: App, { db }: IncidentTools): void {
  listRoute(app, '/incidents', {
    summary: 'List incidents, newest first',
    tags,
    querystring: IncidentQuery,
    record: Incident,
    errors: [400, 404],
    list: async (request, bounds) => {
      const { projectId } = getCaller(request)
      const { status, severity, monitor_id: monitorId = null, from, to, q: text = null } = request.query
      const filter = {
        statuses: parseListFilter('status', status, INCIDENT_STATUSES),
        severities: parseListFilter('severity', severity, SEVERITIES),
        monitorId,
        from: from ? new Date(from) : null,
        to: to ? new Date(to) : null,
        text,
      }
      if (monitorId !== null) found(isId(monitorId) && (await findMonitor(db, projectId, monitorId)), 'monitor')
      const { incidents, total } = await listIncidents(db, projectId, filter, bounds)
      return { data: incidents, total }
    },
  })

  readRoute(app, '/incidents/:id', {
    version: INCIDENT_VERSION,
    summary: 'Get an incident and its possible causes',
    tags,
    record: IncidentWithCauses,
    read: async request => {
      const { id } = request.params
      const { projectId } = getCaller(request)
      const incident = found(isId(id) && (await findIncident(db, projectId, id)), 'incident')
      return { ...incident, possible_causes: await listPossibleCauses(db, projectId, incident, now()) }
    },
  })
}

function writeRoutes(app: App, tools: IncidentTools): void {
  createRoute(app, '/incidents', {
    version: INCIDENT_VERSION,
    summary: 'Open an incident',
    tags,
    body: IncidentCreate,
    record: Incident,
    errors: [400, 402, 404],
    create: request => openIncident(withActor(tools, request), getCaller(request), request.body, now()),
  })

  updateRoute(app, '/incidents/:id', {
    version: { ...INCIDENT_VERSION, isCheckedByAction: true },
    summary: 'Update an incident; a new status or severity also posts an update',
    description: '`monitor_ids` replaces the monitors of the incident.',
    tags,
    body: IncidentChange,
    record: Incident,
    errors: [400, 402, 404, 409],
    update: request =>
      changeIncident(withActor(tools, request), getCaller(request), request.params.id, request.body, now()),
  })

  app.post(
    '/incidents/:id/acknowledge',
    {
      schema: {
        tags,
        summary: 'Acknowledge an incident',
        params: IdParams,
        response: responseSchemas(200, dataSchema(Incident), 404, 409),
      },
    },
    async request => ({
      data: await acknowledgeIncident(withActor(tools, request), getCaller(request), request.params.id, now()),
    }),
  )

  deleteRoute(app, '/incidents/:id', {
    version: INCIDENT_VERSION,
    summary: 'Delete an incident and its updates without a notification',
    tags,
    remove: async request => {
      const { id } = request.params
      const { projectId } = getCaller(request)
      return found(isId(id) && (await deleteIncident(withRequestActor(tools.db, request), projectId, id)), 'incident')
    },
  })
}
