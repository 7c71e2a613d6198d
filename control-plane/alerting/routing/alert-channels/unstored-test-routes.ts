import { Type } from 'typebox'
import { now, nowMs } from '../../../foundation/platform/time/clock.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { rateLimited } from '../../../foundation/web/server/errors.ts'
import { createTestLimit, MAX_CONCURRENT_TESTS } from '../../../foundation/web/test-limit.ts'
import { dataSchema, nullable, responseSchemas } from '../../../foundation/web/validation/schemas.ts'
import { createFaultFinder } from '../../../foundation/web/validation/validation-errors.ts'
import { LoggedAttemptRecord } from '../../deliveries/log/log-entry.ts'
import { ChannelCreate } from '../schemas.ts'
import { testUnstoredChannel, type UnstoredTestTools } from './unstored-test-actions.ts'

const ChannelTest = Type.Object(
  {
    delivery_id: Type.String({ description: '`whd_…`. The delivery is not in the log.' }),
    event: Type.String(),
    delivered: Type.Boolean({ description: 'Whether the receiver accepted the message.' }),
    attempt: LoggedAttemptRecord,
    request_url: nullable(
      Type.String({ description: 'Null when the message was withheld; `attempt.error` has the reason.' }),
    ),
    request_headers: nullable(Type.Record(Type.String(), Type.String(), { description: 'Secrets are masked.' })),
    request_body: nullable(Type.String()),
    signing_secret: nullable(
      Type.String({
        description: '`whsec_…`, which signed this request only. Null for types that are not signed.',
      }),
    ),
  },
  { title: 'AlertChannelTest' },
)

type UnstoredTestContext = Omit<UnstoredTestTools, 'findFaults'> & { testsPerMinute: number }

/** `POST /alerts/channels/test` (docs/design/alerting.md#channels). */
export function unstoredTestRoutes(app: App, { testsPerMinute, ...tools }: UnstoredTestContext): void {
  const takeSlot = createTestLimit(testsPerMinute, 'tests of channels')
  app.post(
    '/alerts/channels/test',
    {
      config: { isPatient: true },
      schema: {
        summary: 'Send a test alert to a channel that is not stored',
        description: `Sends a \`monitor.down\` that is marked as a test once, waits at most 10 s for the answer, and returns the request and the answer. Stores nothing. Mail goes to confirmed addresses only. A project may make ${testsPerMinute} tests a minute and ${MAX_CONCURRENT_TESTS} at the same time, then 429.`,
        tags: ['Alerts'],
        body: ChannelCreate,
        response: responseSchemas(200, dataSchema(ChannelTest), 400, 404, 409, 429),
      },
    },
    async request => {
      const caller = getCaller(request)
      const slot = takeSlot(caller.projectId, nowMs())
      if ('message' in slot) throw rateLimited(slot.message, slot.retryAfterSeconds)
      const findFaults = createFaultFinder(request)
      const test = await testUnstoredChannel({ ...tools, findFaults }, caller, request.body, now()).finally(slot.end)
      const { isDelivered, attempt, request: sent } = test.outcome
      return {
        data: {
          delivery_id: test.deliveryId,
          event: test.event,
          delivered: isDelivered,
          attempt,
          request_url: sent?.url ?? null,
          request_headers: sent?.headers ?? null,
          request_body: sent?.body ?? null,
          signing_secret: test.signingSecret,
        },
      }
    },
  )
}
