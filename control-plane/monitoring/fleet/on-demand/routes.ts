import { Type } from 'typebox'
import type { CheckLiteral } from '../../../alerting/channels/types.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Nats } from '../../../foundation/platform/nats/client.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now, nowMs } from '../../../foundation/platform/time/clock.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { conflict, found, rateLimited } from '../../../foundation/web/server/errors.ts'
import { createTestLimit, MAX_CONCURRENT_TESTS } from '../../../foundation/web/test-limit.ts'
import { dataSchema, IdParams, responseSchemas } from '../../../foundation/web/validation/schemas.ts'
import { draftMonitor } from '../../monitors/actions.ts'
import { listConfigurationIssues } from '../../monitors/settings/configuration-issues.ts'
import { MonitorCreate } from '../../monitors/settings/schema.ts'
import { findMonitor } from '../../monitors/store.ts'
import type { StoredMonitor } from '../../monitors/types.ts'
import { runNow, runTest } from './actions.ts'
import { CheckResult } from './check-result.ts'
import { assertTestable } from './testability.ts'

type OnDemandRoutesContext = {
  db: Db
  nats: Nats
  secrets: SecretCipher
  checkLiteral: CheckLiteral
  testsPerMinute: number
}

const TestResult = Type.Object({ ...CheckResult.properties, monitor_id: Type.Null() })
const resultsSchema = <T extends Type.TSchema>(result: T) => dataSchema(Type.Object({ results: Type.Array(result) }))
const tags = ['Monitors']

/** `POST /monitors/{id}/check` and `POST /monitors/test` (docs/design/assignments.md#checks-on-demand). */
export function onDemandRoutes(app: App, context: OnDemandRoutesContext): void {
  app.post(
    '/monitors/:id/check',
    {
      config: { isPatient: true },
      schema: {
        summary: 'Check a monitor now',
        description:
          'Checks in every region of the monitor and waits for the results, at most its timeout plus 5 s. While a check of the monitor is in progress in a region, the request adds no connection: the result is that of its next attempt, or of a check that starts when it ends. If neither ends within the timeout and 3 s, it is the newest result.',
        tags,
        params: IdParams,
        response: responseSchemas(200, resultsSchema(CheckResult), 404, 409),
      },
    },
    async request => {
      const { id } = request.params
      const monitor = found(isId(id) && (await findMonitor(context.db, getCaller(request).projectId, id)), 'monitor')
      const obstacle = findObstacle(monitor)
      if (obstacle !== null) throw conflict(obstacle)
      return { data: { results: await runNow(context, monitor) } }
    },
  )
  testRoute(app, context)
}

function testRoute(app: App, context: OnDemandRoutesContext): void {
  const { testsPerMinute } = context
  const takeSlot = createTestLimit(testsPerMinute)
  app.post(
    '/monitors/test',
    {
      config: { isPatient: true },
      schema: {
        summary: 'Test a monitor before creating it',
        description: `Checks once in every region and stores nothing. Waits at most the timeout plus 5 s. A project may make ${testsPerMinute} tests a minute and ${MAX_CONCURRENT_TESTS} at the same time, then 429.`,
        tags,
        body: MonitorCreate,
        response: responseSchemas(200, resultsSchema(TestResult), 400),
      },
    },
    async request => {
      const { projectId } = getCaller(request)
      const draft = await draftMonitor(context, projectId, request.body, now())
      assertTestable(draft)
      const slot = takeSlot(projectId, nowMs())
      if ('message' in slot) throw rateLimited(slot.message, slot.retryAfterSeconds)
      const results = await runTest(context, draft).finally(slot.end)
      return { data: { results: results.map(result => ({ ...result, monitor_id: null })) } }
    },
  )
}

/** Returns a sentence when a monitor cannot be checked, else null. */
function findObstacle(monitor: StoredMonitor): string | null {
  if (monitor.type === 'heartbeat') return 'a heartbeat monitor is not checked by probes; send a ping to its ping_url'
  if (monitor.dataSource) return 'a monitor of a data source is not checked by probes; refresh the data source'
  if (monitor.isPaused) return 'the monitor is paused; resume it first'
  const issues = listConfigurationIssues(monitor)
  return issues.length > 0 ? issues.join('; ') : null
}
