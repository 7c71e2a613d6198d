import { now } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import { toolsActingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { metaOf, pageOf } from '../web/pages.ts'
import { answers, dataOf, IdParams, PageQuery, pageOf as pageOfSchema } from '../web/schemas.ts'
import { type IncidentTools, postUpdate } from './actions.ts'
import { IncidentUpdate, UpdateCreate } from './schemas.ts'
import { findIncident } from './store.ts'
import { listUpdates } from './update-store.ts'

const tags = ['Incidents']

/** What is said about an incident (specification, "Incident status update"; decisions 5.2). */
export function incidentUpdateRoutes(app: App, tools: IncidentTools): void {
  app.get(
    '/incidents/:id/updates',
    {
      schema: {
        tags,
        summary: 'List the updates of an incident, newest first, internal ones too',
        params: IdParams,
        querystring: PageQuery,
        response: answers(200, pageOfSchema(IncidentUpdate), 400, 404),
      },
    },
    async request => {
      const { id } = request.params
      if (!isId(id) || !(await findIncident(tools.db, callerOf(request).projectId, id))) throw notFound('incident')
      const { updates, total } = await listUpdates(tools.db, id, pageOf(request.query))
      return { data: updates, meta: metaOf(request.query, total) }
    },
  )

  app.post(
    '/incidents/:id/updates',
    {
      schema: {
        tags,
        summary: 'Post an update, which sets the status of the incident',
        params: IdParams,
        body: UpdateCreate,
        response: answers(201, dataOf(IncidentUpdate), 400, 402, 404),
      },
    },
    async (request, reply) => {
      const update = await postUpdate(
        toolsActingAs(tools, request),
        callerOf(request),
        request.params.id,
        request.body,
        now(),
      )
      return reply.code(201).send({ data: update })
    },
  )
}
