import type { InstallationLimits } from '../../accounts/plans/plans.ts'
import { isId } from '../../foundation/platform/ids.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { withActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import { createRoute, deleteRoute, listRoute, readRoute, updateRoute } from '../../foundation/web/resource-routes.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { found } from '../../foundation/web/server/errors.ts'
import { changeWindow, createWindow, deleteWindow, type SuppressionReviewer } from './actions.ts'
import { toWindowResponse } from './response.ts'
import { WindowCreate, WindowRecord, WindowUpdate } from './schemas.ts'
import { findWindow, listWindows, WINDOW_VERSION } from './store.ts'

const tags = ['Maintenance windows']

type MaintenanceContext = { db: Db; review: SuppressionReviewer; limits: InstallationLimits }

/** The routes of `/maintenance-windows` (docs/design/suppression.md#maintenance). */
export function maintenanceRoutes(app: App, context: MaintenanceContext): void {
  readRoutes(app, context.db)
  writeRoutes(app, context)
}

function readRoutes(app: App, db: Db): void {
  listRoute(app, '/maintenance-windows', {
    summary: 'List maintenance windows, newest first',
    tags,
    record: WindowRecord,
    list: async (request, bounds) => {
      const { windows, total } = await listWindows(db, getCaller(request).projectId, bounds)
      const at = now()
      return { data: windows.map(window => toWindowResponse(window, at)), total }
    },
  })

  readRoute(app, '/maintenance-windows/:id', {
    version: WINDOW_VERSION,
    summary: 'Get a maintenance window',
    tags,
    record: WindowRecord,
    read: async request => {
      const { id } = request.params
      const window = found(isId(id) && (await findWindow(db, getCaller(request).projectId, id)), 'maintenance window')
      return toWindowResponse(window, now())
    },
  })
}

function writeRoutes(app: App, context: MaintenanceContext): void {
  createRoute(app, '/maintenance-windows', {
    version: WINDOW_VERSION,
    summary: 'Create a maintenance window: one period, or recurring periods with cron',
    tags,
    body: WindowCreate,
    record: WindowRecord,
    errors: [400, 402, 404],
    create: async request => {
      const at = now()
      const window = await createWindow(withActor(context, request), getCaller(request).projectId, request.body, at)
      return toWindowResponse(window, at)
    },
  })

  updateRoute(app, '/maintenance-windows/:id', {
    version: WINDOW_VERSION,
    summary: 'Update a maintenance window; omitted fields stay the same',
    tags,
    body: WindowUpdate,
    record: WindowRecord,
    errors: [400, 402, 404],
    update: async request => {
      const at = now()
      const { projectId } = getCaller(request)
      const window = await changeWindow(withActor(context, request), projectId, request.params.id, request.body, at)
      return toWindowResponse(window, at)
    },
  })

  deleteRoute(app, '/maintenance-windows/:id', {
    version: WINDOW_VERSION,
    summary: 'Delete a maintenance window and end its current period',
    tags,
    remove: request =>
      deleteWindow(withActor(context, request), getCaller(request).projectId, request.params.id, now()),
  })
}
