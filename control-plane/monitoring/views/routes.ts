import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import { createRoute, deleteRoute, listRoute, readRoute, updateRoute } from '../../foundation/web/resource-routes.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { changeView, createView, deleteView, getViewOwner, readView } from './actions.ts'
import { ViewCreate, ViewRecord, ViewUpdate } from './schema.ts'
import { listViews, type StoredView, VIEW_VERSION } from './store.ts'

const tags = ['Views']
/** A viewer can keep personal views. An API key needs scope write. */
const config = { personScope: 'read' } as const

/** The routes of `/views`, saved filters of the list of monitors (docs/design/views.md). */
export function viewRoutes(app: App, { db }: { db: Db }): void {
  listRoute(app, '/views', {
    summary: 'List views, by name',
    description: 'The shared views, and the personal views of the person who is signed in.',
    tags,
    record: ViewRecord,
    list: async (request, bounds) => {
      const { views, total } = await listViews(db, getViewOwner(getCaller(request)), bounds)
      return { data: views.map(toViewResponse), total }
    },
  })

  readRoute(app, '/views/:id', {
    version: VIEW_VERSION,
    summary: 'Get a view',
    tags,
    record: ViewRecord,
    read: async request => toViewResponse(await readView(db, getCaller(request), request.params.id)),
  })

  createRoute(app, '/views', {
    config,
    version: VIEW_VERSION,
    summary: 'Create a view',
    description:
      'Saves a query of the list of monitors. A project can have 200 shared views, a person 50 personal ones.',
    tags,
    body: ViewCreate,
    record: ViewRecord,
    errors: [400, 409],
    create: async request =>
      toViewResponse(await createView(withRequestActor(db, request), getCaller(request), request.body, now())),
  })

  updateRoute(app, '/views/:id', {
    config,
    version: VIEW_VERSION,
    summary: 'Update a view; omitted fields stay the same',
    tags,
    body: ViewUpdate,
    record: ViewRecord,
    errors: [400, 404, 409],
    update: async request => {
      const { params, body } = request
      return toViewResponse(await changeView(withRequestActor(db, request), getCaller(request), params.id, body, now()))
    },
  })

  deleteRoute(app, '/views/:id', {
    config,
    version: VIEW_VERSION,
    summary: 'Delete a view',
    tags,
    remove: request => deleteView(withRequestActor(db, request), getCaller(request), request.params.id),
  })
}

const toViewResponse = ({ id, name, query, userId, createdAt, updatedAt }: StoredView) => ({
  ...{ id, name, query, is_shared: userId === null, created_at: createdAt, updated_at: updatedAt },
})
