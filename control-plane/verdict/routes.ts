import { Type } from 'typebox'
import { type PresentTools, presentMonitor, type ReadWatching } from '../monitors/present.ts'
import { MonitorRecord } from '../monitors/record.ts'
import { findMonitor } from '../monitors/store.ts'
import { MONITOR_STATUSES, type StoredMonitor } from '../monitors/types.ts'
import { now } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import { toolsActingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { type Caller, callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { metaOf, pageOf } from '../web/pages.ts'
import {
  answers,
  DeletedResponse,
  dataOf,
  enumOf,
  Id,
  IdParams,
  nullable,
  PageQuery,
  pageOf as pageSchema,
  Timestamp,
} from '../web/schemas.ts'
import { deleteMonitor, pauseMonitor, resumeMonitor } from './actions.ts'
import { listTransitions } from './store.ts'

export type VerdictRoutesContext = PresentTools & {
  db: Db
  watching: ReadWatching
}

const Status = nullable(enumOf(MONITOR_STATUSES))
const TransitionRecord = Type.Object({
  id: Id,
  monitor_id: Id,
  from: Status,
  to: Status,
  at: Timestamp,
  quorum: enumOf(['full', 'reduced']),
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
export function verdictRoutes(app: App, context: VerdictRoutesContext): void {
  const { db, watching } = context
  const answer = async (caller: Caller, monitor: StoredMonitor) => ({
    data: presentMonitor(monitor, context, await watching(caller.projectId, [monitor]), caller),
  })
  const switches = [
    { path: 'pause', summary: 'Pause a monitor; an automatic incident is resolved', change: pauseMonitor },
    { path: 'resume', summary: 'Resume a monitor; it starts without a status', change: resumeMonitor },
  ]
  for (const { path, summary, change } of switches) {
    app.post(
      `/monitors/:id/${path}`,
      { schema: { summary, tags, params: IdParams, response: answers(200, dataOf(MonitorRecord), 404) } },
      async request => {
        const caller = callerOf(request)
        const { projectId } = caller
        return answer(caller, await change(toolsActingAs(context, request), projectId, request.params.id, now()))
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
        response: answers(200, DeletedResponse, 404, 409),
      },
    },
    async request => {
      const { id } = request.params
      await deleteMonitor(toolsActingAs(context, request), callerOf(request).projectId, id, now())
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
        response: answers(200, pageSchema(TransitionRecord), 400, 404),
      },
    },
    async request => {
      const { projectId } = callerOf(request)
      const { id } = request.params
      const monitor = isId(id) ? await findMonitor(db, projectId, id) : null
      if (!monitor) throw notFound('monitor')
      const { transitions, total } = await listTransitions(db, projectId, id, pageOf(request.query))
      return { data: transitions, meta: metaOf(request.query, total) }
    },
  )
}
