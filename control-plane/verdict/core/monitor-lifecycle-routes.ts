import { Type } from 'typebox'
import { isId } from '../../foundation/platform/ids.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { withActor } from '../../foundation/web/auth/audit-actor.ts'
import { type ApiCaller, getCaller } from '../../foundation/web/auth/authentication.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { notFound } from '../../foundation/web/server/errors.ts'
import { buildPageMeta, toPageBounds } from '../../foundation/web/validation/pagination.ts'
import {
  DeletedResponse,
  dataSchema,
  Id,
  IdParams,
  nullable,
  PageQuery,
  pageSchema,
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
import { findMonitor } from '../../monitoring/monitors/store.ts'
import { MONITOR_STATUSES, type StoredMonitor } from '../../monitoring/monitors/types.ts'
import { deleteMonitor, pauseMonitor, resumeMonitor } from './monitor-lifecycle-actions.ts'
import { listTransitions } from './store.ts'

export type MonitorLifecycleContext = MonitorResponseTools & {
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
  summary: Type.String({ description: 'why, in a sentence' }),
  explanation: Type.Object(
    {},
    {
      additionalProperties: true,
      description:
        'votes, attempts, thresholds and timings; empty once the transition is older than explanations are kept',
    },
  ),
  caused_by_monitor_id: nullable(Type.String({ description: 'the parent whose outage this one came of' })),
  created_at: Timestamp,
  updated_at: Timestamp,
})
const tags = ['Monitors']

/** What moves a monitor in and out of the verdict, and what the verdict said (decisions 3.1, 4.7 and 4.8). */
export function monitorLifecycleRoutes(app: App, context: MonitorLifecycleContext): void {
  const { db, watching } = context
  const answer = async (caller: ApiCaller, monitor: StoredMonitor) => ({
    data: toMonitorResponse(monitor, context, await watching(caller.projectId, [monitor]), caller),
  })
  const switches = [
    { path: 'pause', summary: 'Pause a monitor; an automatic incident is resolved', change: pauseMonitor },
    { path: 'resume', summary: 'Resume a monitor; it starts without a status', change: resumeMonitor },
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

  app.delete(
    '/monitors/:id',
    {
      schema: {
        summary: 'Delete a monitor',
        tags,
        params: IdParams,
        response: responseSchemas(200, DeletedResponse, 404, 409),
      },
    },
    async request => {
      const { id } = request.params
      await deleteMonitor(withActor(context, request), getCaller(request).projectId, id, now())
      return { data: { id, deleted: true as const } }
    },
  )

  app.get(
    '/monitors/:id/transitions',
    {
      schema: {
        summary: 'The changes of a monitor, newest first, each with its explanation',
        tags,
        params: IdParams,
        querystring: PageQuery,
        response: responseSchemas(200, pageSchema(TransitionRecord), 400, 404),
      },
    },
    async request => {
      const { projectId } = getCaller(request)
      const { id } = request.params
      const monitor = isId(id) ? await findMonitor(db, projectId, id) : null
      if (!monitor) throw notFound('monitor')
      const { transitions, total } = await listTransitions(db, projectId, id, toPageBounds(request.query))
      return { data: transitions, meta: buildPageMeta(request.query, total) }
    },
  )
}
