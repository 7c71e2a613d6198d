import { Type } from 'typebox'
import { configurationIssues } from '../monitors/configuration.ts'
import { findMonitor } from '../monitors/store.ts'
import type { StoredMonitor } from '../monitors/types.ts'
import { isId } from '../platform/ids.ts'
import type { Nats } from '../platform/nats.ts'
import type { Db } from '../platform/postgres.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { conflict, notFound } from '../web/errors.ts'
import { answers, dataOf, IdParams } from '../web/schemas.ts'
import { runNow } from './actions.ts'
import { CheckResult } from './check-result.ts'

/** `POST /monitors/{id}/check` (decisions 3.1): it stands here because probes give the answer. */
export function fleetRoutes(app: App, context: { db: Db; nats: Nats }): void {
  app.post(
    '/monitors/:id/check',
    {
      schema: {
        summary: 'Check now in every region of the monitor; waits for the results, at most its timeout and 5 s',
        tags: ['Monitors'],
        params: IdParams,
        response: answers(200, dataOf(Type.Object({ results: Type.Array(CheckResult) })), 404, 409),
      },
    },
    async request => {
      const { id } = request.params
      const monitor = isId(id) ? await findMonitor(context.db, callerOf(request).projectId, id) : null
      if (!monitor) throw notFound('monitor')
      const obstacle = obstacleOf(monitor)
      if (obstacle !== null) throw conflict(obstacle)
      return { data: { results: await runNow(context, monitor) } }
    },
  )
}

/** Why a monitor cannot be checked, as a sentence; null when it can. */
function obstacleOf(monitor: StoredMonitor): string | null {
  if (monitor.isPaused) return 'the monitor is paused; resume it to check it'
  const issues = configurationIssues(monitor)
  return issues.length > 0 ? issues.join('; ') : null
}
