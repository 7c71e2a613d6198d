import { Type } from 'typebox'
import { now } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import { toolsActingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { answers, dataOf, enumOf, Id, IdParams, nullable, strictObject } from '../web/schemas.ts'
import { changeParents, type ParentTools } from './parent-actions.ts'
import { type Parent, parentsOf } from './parent-store.ts'
import { findMonitor } from './store.ts'
import { MONITOR_STATUSES } from './types.ts'

const tags = ['Monitors']

const ParentsUpdate = strictObject({
  parent_ids: Type.Array(Type.String({ minLength: 1 }), { maxItems: 10, uniqueItems: true }),
})

const ParentsRecord = Type.Object({
  monitor_id: Id,
  parent_ids: Type.Array(Id),
  parents: Type.Array(Type.Object({ id: Id, name: Type.String(), status: nullable(enumOf(MONITOR_STATUSES)) })),
})

/** On which monitors a monitor depends: while one of them is down, its own outages are recorded and not sent. */
export function parentRoutes(app: App, tools: ParentTools): void {
  const { db } = tools
  app.get(
    '/monitors/:id/parents',
    {
      schema: {
        summary: 'The monitors that a monitor depends on',
        tags,
        params: IdParams,
        response: answers(200, dataOf(ParentsRecord), 404),
      },
    },
    async request => {
      const { id } = request.params
      const monitor = isId(id) ? await findMonitor(db, callerOf(request).projectId, id) : null
      if (!monitor) throw notFound('monitor')
      return { data: presentParents(monitor.id, await parentsOf(db, monitor.id)) }
    },
  )

  app.put(
    '/monitors/:id/parents',
    {
      schema: {
        summary: 'Replace the monitors that a monitor depends on, at most 10',
        tags,
        params: IdParams,
        body: ParentsUpdate,
        response: answers(200, dataOf(ParentsRecord), 400, 404, 409),
      },
    },
    async request => {
      const { id } = request.params
      const { projectId } = callerOf(request)
      const parents = await changeParents(toolsActingAs(tools, request), projectId, id, request.body.parent_ids, now())
      return { data: presentParents(id.toLowerCase(), parents) }
    },
  )
}

function presentParents(monitorId: string, parents: Parent[]) {
  return { monitor_id: monitorId, parent_ids: parents.map(({ id }) => id), parents }
}
