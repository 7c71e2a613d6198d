import { now } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import { actingAs, toolsActingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { severalOf } from '../web/filters.ts'
import { metaOf, pageOf } from '../web/pages.ts'
import { answers, DeletedResponse, dataOf, IdParams, pageOf as pageOfSchema } from '../web/schemas.ts'
import { acknowledgeIncident, changeIncident, type IncidentTools, openIncident } from './actions.ts'
import { possibleCausesOf } from './cause-store.ts'
import { INCIDENT_STATUSES, SEVERITIES } from './lifecycle.ts'
import { Incident, IncidentChange, IncidentCreate, IncidentQuery, IncidentWithCauses } from './schemas.ts'
import { deleteIncident, findIncident, listIncidents } from './store.ts'

const tags = ['Incidents']

/** Incidents as people open, read and handle them (specification, "Incidents"; decisions 5). */
export function incidentRoutes(app: App, tools: IncidentTools): void {
  readRoutes(app, tools)
  writeRoutes(app, tools)
}

function readRoutes(app: App, { db }: IncidentTools): void {
  app.get(
    '/incidents',
    {
      schema: {
        tags,
        summary: 'List incidents, newest first',
        querystring: IncidentQuery,
        response: answers(200, pageOfSchema(Incident), 400),
      },
    },
    async request => {
      const filter = {
        statuses: severalOf('status', request.query.status, INCIDENT_STATUSES),
        severities: severalOf('severity', request.query.severity, SEVERITIES),
      }
      const { incidents, total } = await listIncidents(db, callerOf(request).projectId, filter, pageOf(request.query))
      return { data: incidents, meta: metaOf(request.query, total) }
    },
  )

  app.get(
    '/incidents/:id',
    {
      schema: {
        tags,
        summary: 'Read one incident, with what may have caused it',
        params: IdParams,
        response: answers(200, dataOf(IncidentWithCauses), 404),
      },
    },
    async request => {
      const { id } = request.params
      const { projectId } = callerOf(request)
      const incident = isId(id) ? await findIncident(db, projectId, id) : null
      if (!incident) throw notFound('incident')
      return { data: { ...incident, possible_causes: await possibleCausesOf(db, projectId, incident, now()) } }
    },
  )
}

function writeRoutes(app: App, tools: IncidentTools): void {
  app.post(
    '/incidents',
    {
      schema: {
        tags,
        summary: 'Open an incident',
        body: IncidentCreate,
        response: answers(201, dataOf(Incident), 400, 402, 404),
      },
    },
    async (request, reply) =>
      reply
        .code(201)
        .send({ data: await openIncident(toolsActingAs(tools, request), callerOf(request), request.body, now()) }),
  )

  app.put(
    '/incidents/:id',
    {
      schema: {
        tags,
        summary: 'Change an incident; a new status or severity writes an update by itself',
        params: IdParams,
        body: IncidentChange,
        response: answers(200, dataOf(Incident), 400, 402, 404),
      },
    },
    async request => ({
      data: await changeIncident(
        toolsActingAs(tools, request),
        callerOf(request),
        request.params.id,
        request.body,
        now(),
      ),
    }),
  )

  app.post(
    '/incidents/:id/acknowledge',
    {
      schema: {
        tags,
        summary: 'Acknowledge an incident, once',
        params: IdParams,
        response: answers(200, dataOf(Incident), 404, 409),
      },
    },
    async request => ({
      data: await acknowledgeIncident(toolsActingAs(tools, request), callerOf(request), request.params.id, now()),
    }),
  )

  app.delete(
    '/incidents/:id',
    {
      schema: {
        tags,
        summary: 'Delete an incident with its updates; nobody is told',
        params: IdParams,
        response: answers(200, DeletedResponse, 404),
      },
    },
    async request => {
      const { id } = request.params
      if (!isId(id) || !(await deleteIncident(actingAs(tools.db, request), callerOf(request).projectId, id)))
        throw notFound('incident')
      return { data: { id, deleted: true as const } }
    },
  )
}
