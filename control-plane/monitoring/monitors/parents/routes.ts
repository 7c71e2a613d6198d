import { Type } from 'typebox'
import { isId } from '../../../foundation/platform/ids.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { withActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import { readRoute, updateRoute } from '../../../foundation/web/resource-routes.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { found } from '../../../foundation/web/server/errors.ts'
import { Id, nullable, strictObject, stringEnum } from '../../../foundation/web/validation/schemas.ts'
import { findMonitor } from '../store.ts'
import { MONITOR_STATUSES } from '../types.ts'
import { changeParents, type ParentTools } from './actions.ts'
import { listParents, type ParentMonitor } from './store.ts'

const tags = ['Monitors']

const ParentsUpdate = strictObject({
  parent_ids: Type.Array(Type.String({ minLength: 1 }), { maxItems: 10, uniqueItems: true }),
})

const ParentsRecord = Type.Object({
  monitor_id: Id,
  parent_ids: Type.Array(Id),
  parents: Type.Array(Type.Object({ id: Id, name: Type.String(), status: nullable(stringEnum(MONITOR_STATUSES)) })),
})

/** The parents of a monitor (docs/design/monitors.md#parents). */
export function parentRoutes(app: App, tools: ParentTools): void {
  const { db } = tools
  readRoute(app, '/monitors/:id/parents', {
    summary: 'List the parents of a monitor',
    description: 'The monitors that it depends on.',
    tags,
    record: ParentsRecord,
    read: async request => {
      const { id } = request.params
      const monitor = found(isId(id) && (await findMonitor(db, getCaller(request).projectId, id)), 'monitor')
      return toParentsResponse(monitor.id, await listParents(db, monitor.id))
    },
  })

  updateRoute(app, '/monitors/:id/parents', {
    summary: 'Replace the parents of a monitor',
    description: 'At most 10. While a parent is down, outages of the monitor are recorded and no notification is sent.',
    tags,
    body: ParentsUpdate,
    record: ParentsRecord,
    errors: [400, 404, 409],
    update: async request => {
      const { id } = request.params
      const { projectId } = getCaller(request)
      const parents = await changeParents(withActor(tools, request), projectId, id, request.body.parent_ids, now())
      return toParentsResponse(id.toLowerCase(), parents)
    },
  })
}

function toParentsResponse(monitorId: string, parents: ParentMonitor[]) {
  return { monitor_id: monitorId, parent_ids: parents.map(({ id }) => id), parents }
}
