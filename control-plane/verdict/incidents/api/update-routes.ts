import { isId } from '../../../foundation/platform/ids.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { withActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import { createRoute, listRoute } from '../../../foundation/web/resource-routes.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { notFound } from '../../../foundation/web/server/errors.ts'
import { findIncident } from '../store.ts'
import { listIncidentUpdates } from '../update-store.ts'
import { type IncidentTools, postUpdate } from './actions.ts'
import { IncidentUpdate, UpdateCreate } from './schemas.ts'

const tags = ['Incidents']

/** The routes of the updates of an incident (docs/design/incidents.md#updates). */
export function incidentUpdateRoutes(app: App, tools: IncidentTools): void {
  listRoute(app, '/incidents/:id/updates', {
    summary: 'List the updates of an incident, including internal ones, newest first',
    tags,
    record: IncidentUpdate,
    list: async (request, bounds) => {
      const { id } = request.params
      if (!isId(id) || !(await findIncident(tools.db, getCaller(request).projectId, id))) throw notFound('incident')
      const { updates, total } = await listIncidentUpdates(tools.db, id, bounds)
      return { data: updates, total }
    },
  })

  createRoute(app, '/incidents/:id/updates', {
    summary: 'Post an update and set the status of the incident',
    tags,
    body: UpdateCreate,
    record: IncidentUpdate,
    errors: [400, 402, 404],
    create: request =>
      postUpdate(withActor(tools, request), getCaller(request), request.params.id, request.body, now()),
  })
}
