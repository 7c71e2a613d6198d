import { Type } from 'typebox'
import { isId } from '../../foundation/platform/ids.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { withActor } from '../../foundation/web/auth/audit-actor.ts'
import { type ApiCaller, getCaller } from '../../foundation/web/auth/authentication.ts'
import { deleteRoute, listRoute } from '../../foundation/web/resource-routes.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { notFound } from '../../foundation/web/server/errors.ts'
import {
  dataSchema,
  Id,
  IdParams,
  nullable,
  responseSchemas,
  stringEnum,
  Timestamp,
} from '../../foundation/web/validation/schemas.ts'
import { MonitorRecord } from '../../monitoring/monitors/responses/monitor-record.ts'
import {
  type MonitoringStateReader,
  type MonitorResponseTools,
  toMonitorResponse,
} from '../../monitoring/monitors/responses/monitor-response.ts'
import { findMonitor, MONITOR_VERSION } from '../../monitoring/monitors/store.ts'
import { MONITOR_STATUSES, type StoredMonitor } from '../../monitoring/monitors/types.ts'
import { deleteMonitor, pauseMonitor, resumeMonitor } from './monitor-lifecycle-actions.ts'
import { listTransitions } from './store.ts'

type MonitorLifecycleContext = MonitorResponseTools & {
  db: Db
  watching: MonitoringStateReader
}

const Status = nullable(stringEnum(MONITOR_STATUSES))
const TransitionRecord = Type.Object({
  id: Id,
  monitor_id: Id,
  from: Status,
  to: Status,
  at: Timestamp,
  quorum: stringEnum(['full', 'reduced']),
  summary: Type.String({ description: 'The reason as one sentence.' }),
  explanation: Type.Object(
    {},
    {
      additionalProperties: true,
      description: 'Votes, attempts, thresholds and timings. Empty after the retention time of explanations.',
    },
  ),
  caused_by_monitor_id: nullable(Type.String({ description: 'The parent monitor whose outage caused this one.' })),
  created_at: Timestamp,
  updated_at: Timestamp,
})
const tags = ['Monitors']

/** Routes that pause, resume and delete a monitor, and list its transitions. */
export function monitorLifecycleRoutes(app: App, context: MonitorLifecycleContext): void {
  const { db, watching } = context
  const answer = async (caller: ApiCaller, monitor: StoredMonitor) => ({
    data: toMonitorResponse(monitor, context, await watching(caller.projectId, [monitor]), caller),
  })
  const switches = [
    { path: 'pause', summary: 'Pause a monitor and resolve its automatic incident', change: pauseMonitor },
    { path: 'resume', summary: 'Resume a monitor; its status is null until the next verdict', change: resumeMonitor },
  ]
  for (const { path, summary, change } of switches) {
    app.post(
      `/monitors/:id/${path}`,
      { schema: { summary, tags, params: IdParams, response: responseSchemas(200, dataSchema(MonitorRecord), 404) } },
      async request => {
        const caller = getCaller(request)
        const { projectId } = caller
        return answer(caller, await change(withActor(context, request), projectId, request.params.id, now()))
      },
    )
  }

  deleteRoute(app, '/monitors/:id', {
    version: MONITOR_VERSION,
    summary: 'Delete a monitor',
    tags,
    errors: [404, 409],
    remove: request =>
      deleteMonitor(withActor(context, request), getCaller(request).projectId, request.params.id, now()),
  })

  listRoute(app, '/monitors/:id/transitions', {
    summary: 'List the transitions of a monitor with their explanations, newest first',
    tags,
    record: TransitionRecord,
    list: async (request, bounds) => {
      const { projectId } = getCaller(request)
      const { id } = request.params
      if (!isId(id) || !(await findMonitor(db, projectId, id))) throw notFound('monitor')
      const { transitions, total } = await listTransitions(db, projectId, id, bounds)
      return { data: transitions, total }
    },
  })
}
