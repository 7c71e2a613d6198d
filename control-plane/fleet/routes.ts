import { Type } from 'typebox'
import type { CheckLiteral } from '../channels/types.ts'
import { draftMonitor } from '../monitors/actions.ts'
import { configurationIssues } from '../monitors/configuration.ts'
import { MonitorCreate } from '../monitors/schema.ts'
import { findMonitor } from '../monitors/store.ts'
import type { StoredMonitor } from '../monitors/types.ts'
import { now, nowMs } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import type { Nats } from '../platform/nats.ts'
import type { Db } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { conflict, notFound, rateLimited } from '../web/errors.ts'
import { answers, dataOf, IdParams } from '../web/schemas.ts'
import { CheckResult } from './check-result.ts'
import { runNow, runTest } from './run-now-actions.ts'
import { createTestLimit, TESTS_AT_ONCE } from './test-limit.ts'
import { assertTestable } from './testable.ts'

export type FleetRoutesContext = {
  db: Db
  nats: Nats
  secrets: Secrets
  checkLiteral: CheckLiteral
  testsPerMinute: number
}

const TestResult = Type.Object({ ...CheckResult.properties, monitor_id: Type.Null() })
const resultsOf = <T extends Type.TSchema>(result: T) => dataOf(Type.Object({ results: Type.Array(result) }))
const tags = ['Monitors']

/** Checks on demand (decisions 3.1 and issue 3.8): they stand here because probes give the answer. */
export function fleetRoutes(app: App, context: FleetRoutesContext): void {
  app.post(
    '/monitors/:id/check',
    {
      config: { isPatient: true },
      schema: {
        summary: 'Check now in every region of the monitor; waits for the results, at most its timeout and 5 s',
        tags,
        params: IdParams,
        response: answers(200, resultsOf(CheckResult), 404, 409),
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
  testRoute(app, context)
}

function testRoute(app: App, context: FleetRoutesContext): void {
  const { testsPerMinute } = context
  const takeTurn = createTestLimit(testsPerMinute)
  app.post(
    '/monitors/test',
    {
      config: { isPatient: true },
      schema: {
        summary: 'Check in every region what a create would make, and store nothing; waits like a check now',
        description: `At most ${testsPerMinute} a minute and ${TESTS_AT_ONCE} at once a project, then 429.`,
        tags,
        body: MonitorCreate,
        response: answers(200, resultsOf(TestResult), 400),
      },
    },
    async request => {
      const { projectId } = callerOf(request)
      const draft = await draftMonitor(context, projectId, request.body, now())
      assertTestable(draft)
      const turn = takeTurn(projectId, nowMs())
      if ('message' in turn) throw rateLimited(turn.message, turn.retryAfterSeconds)
      const results = await runTest(context, draft).finally(turn.end)
      return { data: { results: results.map(result => ({ ...result, monitor_id: null })) } }
    },
  )
}

/** Why a monitor cannot be checked, as a sentence; null when it can. */
function obstacleOf(monitor: StoredMonitor): string | null {
  if (monitor.type === 'heartbeat') return 'no probe checks a heartbeat monitor; send its ping_url a ping'
  if (monitor.dataSource) return 'no probe checks a monitor of a data source; refresh the data source'
  if (monitor.isPaused) return 'the monitor is paused; resume it to check it'
  const issues = configurationIssues(monitor)
  return issues.length > 0 ? issues.join('; ') : null
}
