import { isId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { severalOf } from '../web/filters.ts'
import { metaOf, pageOf } from '../web/pages.ts'
import { answers, dataOf, IdParams, pageOf as pageOfSchema } from '../web/schemas.ts'
import { INCIDENT_STATUSES, SEVERITIES } from './lifecycle.ts'
import { Incident, IncidentQuery } from './schemas.ts'
import { findIncident, listIncidents } from './store.ts'

const tags = ['Incidents']

export function incidentRoutes(app: App, { db }: { db: Db }): void {
  app.get(
    '/incidents',
    {
      schema: {
        tags,
        summary: 'List incidents, newest first',
        querystring: IncidentQuery,
        response: answers(200, pageOfSchema(Incident)),
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
        summary: 'Read one incident',
        params: IdParams,
        response: answers(200, dataOf(Incident), 404),
      },
    },
    async request => {
      const { id } = request.params
      const incident = isId(id) ? await findIncident(db, callerOf(request).projectId, id) : null
      if (!incident) throw notFound('incident')
      return { data: incident }
    },
  )
}
