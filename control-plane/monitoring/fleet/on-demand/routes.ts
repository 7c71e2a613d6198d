import { Type } from 'typebox'
import type { CheckLiteral } from '../../../alerting/channels/types.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Nats } from '../../../foundation/platform/nats/client.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now, nowMs } from '../../../foundation/platform/time/clock.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { conflict, notFound, rateLimited } from '../../../foundation/web/server/errors.ts'
import { dataSchema, IdParams, responseSchemas } from '../../../foundation/web/validation/schemas.ts'
import { draftMonitor } from '../../monitors/actions.ts'
import { listConfigurationIssues } from '../../monitors/settings/configuration-issues.ts'
import { MonitorCreate } from '../../monitors/settings/schema.ts'
import { findMonitor } from '../../monitors/store.ts'
import type { StoredMonitor } from '../../monitors/types.ts'
import { runNow, runTest } from './actions.ts'
import { CheckResult } from './check-result.ts'
import { createTestLimit, MAX_CONCURRENT_TESTS } from './test-limit.ts'
import { assertTestable } from './testability.ts'

export type OnDemandRoutesContext = {
  db: Db
  nats: Nats
  secrets: SecretCipher
  checkLiteral: CheckLiteral
  testsPerMinute: number
}

const TestResult = Type.Object({ ...CheckResult.properties, monitor_id: Type.Null() })
const resultsSchema = <T extends Type.TSchema>(result: T) => dataSchema(Type.Object({ results: Type.Array(result) }))
const tags = ['Monitors']

/** Checks on demand (decisions 3.1 and issue 3.8): they stand here because probes give the answer. */
export function onDemandRoutes(app: App, context: OnDemandRoutesContext): void {
  app.post(
    '/monitors/:id/check',
    {
      config: { isPatient: true },
      schema: {
        summary: 'Check now in every region of the monitor; waits for the results, at most its timeout and 5 s',
        tags,
        params: IdParams,
        response: responseSchemas(200, resultsSchema(CheckResult), 404, 409),
      },
    },
    async request => {
      const { id } = request.params
      const monitor = isId(id) ? await findMonitor(context.db, getCaller(request).projectId, id) : null
      if (!monitor) throw notFound('monitor')
      const obstacle = findObstacle(monitor)
      if (obstacle !== null) throw conflict(obstacle)
      return { data: { results: await runNow(context, monitor) } }
    },
  )
  testRoute(app, context)
}

function testRoute(app: App, context: OnDemandRoutesContext): void {
  const { testsPerMinute } = context
  const takeTurn = createTestLimit(testsPerMinute)
  app.post(
    '/monitors/test',
    {
      config: { isPatient: true },
      schema: {
        summary: 'Check in every region what a create would make, and store nothing; waits like a check now',
        description: `At most ${testsPerMinute} a minute and ${MAX_CONCURRENT_TESTS} at once a project, then 429.`,
        tags,
        body: MonitorCreate,
        response: responseSchemas(200, resultsSchema(TestResult), 400),
      },
    },
    async request => {
      const { projectId } = getCaller(request)
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
function findObstacle(monitor: StoredMonitor): string | null {
  if (monitor.type === 'heartbeat') return 'no probe checks a heartbeat monitor; send its ping_url a ping'
  if (monitor.dataSource) return 'no probe checks a monitor of a data source; refresh the data source'
  if (monitor.isPaused) return 'the monitor is paused; resume it to check it'
  const issues = listConfigurationIssues(monitor)
  return issues.length > 0 ? issues.join('; ') : null
}
