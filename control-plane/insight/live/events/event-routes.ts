import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Metrics } from '../../../../shared/process/metrics.ts'
import { monotonicMs, nowMs } from '../../../foundation/platform/time/clock.ts'
import { getCaller, hasScope } from '../../../foundation/web/auth/authentication.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { ApiError } from '../../../foundation/web/server/errors.ts'
import { responseSchemas, strictObject } from '../../../foundation/web/validation/schemas.ts'
import { type ClientPosition, MAX_POSITION_AGE_MS, MAX_POSITION_LENGTH, parsePosition } from '../position.ts'
import { EventData } from './event-schemas.ts'
import { formatEvent, formatRetry } from './event-text.ts'
import { createOutgoingText } from './outgoing-text.ts'
import type { EventStream, StreamEnd, StreamRegistry } from './stream-registry.ts'

type EventContext = {
  registry: StreamRegistry
  wake: () => void
  metrics: Metrics
  /** identifies the program */
  build: string
}

/** How long a client waits before it connects again. */
const RETRY_MS = 2_000

const DESCRIPTION = `Server-Sent Events about changes in the project, within a second. The connection stays open.

| event | data |
|---|---|
| \`server\` | \`{ "build" }\`: the program that answers, first on each connection; another value: it was replaced |
| \`ready\` | \`{ "resumed" }\`: the stream begins. False: now; true: after \`Last-Event-ID\`, and no event is missing |
| \`reset\` | \`{ "reason" }\`: events may be missing; read everything again |
| \`board\` | \`{ "changes" }\`: changed monitors, in the form of \`GET /monitors/board\`; null: read it with \`since\` |
| \`incident\`, \`delivery\`, \`channel\`, \`maintenance\` | \`{ "ids" }\`: changed or deleted records; null: many |
| \`heartbeat\` | \`{}\`, every 10 to 15 s: the connection works |

Events are hints: one can arrive twice, and several changes are one event. Connect again when nothing came for 25 s.
The stream ends when the key stops working, when the client reads too slowly, and when the server stops. Connect again with
\`Last-Event-ID\`. 10 streams can be open for each key.`

const EventHeaders = Type.Object({
  'Last-Event-ID': Type.Optional(
    Type.String({
      description: 'The id of the last event that was received. Browsers send it when they connect again.',
    }),
  ),
})

/** The stream of changes of a project (docs/design/live.md#event-stream). */
export function eventRoutes(app: App, { registry, wake, metrics, build }: EventContext): void {
  const ended = metrics.counter('picket_event_streams_ended_total', 'Event streams that ended', ['why'])
  app.addHook('preClose', async () => registry.endAll())
  app.get(
    '/events',
    {
      config: { isPatient: true },
      schema: {
        operationId: 'streamEvents',
        summary: 'Receive changes as they happen',
        description: DESCRIPTION,
        tags: ['Monitors'],
        headers: EventHeaders,
        querystring: strictObject({
          since: Type.Optional(
            Type.String({
              maxLength: MAX_POSITION_LENGTH,
              description: 'The `revision` of a board, or an event id. `Last-Event-ID` takes precedence.',
            }),
          ),
        }),
        response: { ...responseSchemas(200, EVENT_STREAM, 400, 503) },
      },
    },
    async (request, reply) => {
      const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' }
      if (request.method === 'HEAD') return reply.headers(headers).send('')
      const last = request.headers['last-event-id'] ?? request.query.since
      const text = createOutgoingText()
      const stream = createStream(request, reply, typeof last === 'string' && last !== '' ? last : null, text)
      const remove = registry.add(stream)
      text.readable.on('close', () => {
        remove()
        ended.inc({ why: stream.endedBy })
      })
      text.write(formatRetry(RETRY_MS) + formatEvent({ event: 'server', data: JSON.stringify({ build }) }))
      wake()
      // a connection that is kept alive would delay the stop of the server
      return reply.headers({ ...headers, connection: 'close' }).send(text.readable)
    },
  )
}

const EVENT_STREAM = { content: { 'text/event-stream': { schema: EventData } } } as never

type OutgoingStream = EventStream & { endedBy: StreamEnd }

function createStream(
  request: FastifyRequest,
  reply: FastifyReply,
  last: string | null,
  text: ReturnType<typeof createOutgoingText>,
): OutgoingStream {
  const caller = getCaller(request)
  const stream: OutgoingStream = {
    ...{ projectId: caller.projectId, keyId: caller.keyId, version: 0, endedBy: 'client' },
    ...{ checkedMs: monotonicMs(), heartbeatMs: monotonicMs() },
    ...chooseStart(last, caller.projectId),
    write(written) {
      if (!text.write(written)) stream.end('slow')
    },
    end(why) {
      if (text.readable.destroyed) return
      stream.endedBy = why
      text.end(why === 'slow' || reply.raw.writableLength > 0)
    },
    isAllowed: () => isStillAllowed(request),
  }
  return stream
}

/** A client with a position that can be continued begins there; any other one begins now. */
function chooseStart(last: string | null, projectId: string): Pick<EventStream, 'position' | 'greeting'> {
  if (last === null) return { position: null, greeting: { resumed: false } }
  const position: ClientPosition | null = parsePosition(last, projectId)
  if (position === null) return { position, greeting: { reason: 'unknown_position' } }
  if (nowMs() - position.atMs >= MAX_POSITION_AGE_MS)
    return { position: null, greeting: { reason: 'position_too_old' } }
  return { position, greeting: { resumed: true } }
}

/** Authenticates the request again. Throws when that is not possible now. */
async function isStillAllowed(request: FastifyRequest): Promise<boolean> {
  try {
    return hasScope(await request.authenticateAgain!(), 'read')
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return false
    throw error
  }
}
