import type { FastifyRequest } from 'fastify'
import type { AddressTools } from '../accounts/addresses/actions.ts'
import type { Limits } from '../accounts/plans.ts'
import type { CheckLiteral } from '../channels/index.ts'
import { LogEntry, presentLogEntry } from '../deliveries/log-entry.ts'
import { findDelivery } from '../deliveries/store.ts'
import { now } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { actingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { metaOf, pageOf } from '../web/pages.ts'
import { answers, DeletedResponse, dataOf, IdParams, PageQuery, pageOf as pageSchema } from '../web/schemas.ts'
import { faultsFinder } from '../web/validation.ts'
import { changeChannel, createChannel, resumeChannel, rotateSecret, sendTest } from './channel-actions.ts'
import { showChannel, showChannels } from './channel-reader.ts'
import { deleteChannel, findChannel, listChannels } from './channel-store.ts'
import { ChannelCreate, ChannelRecord, ChannelUpdate } from './schema.ts'

export type ChannelContext = {
  db: Db
  secrets: Secrets
  checkLiteral: CheckLiteral
  limits: Limits
  /** the relay outside; null: the built-in one */
  relayUrl: string | null
} & Omit<AddressTools, 'secrets'>

const tags = ['Alerts']

/** Alert channels (specification, "Alerts"; decisions 6.1 and 6.3). */
export function channelRoutes(app: App, context: ChannelContext): void {
  readRoutes(app, context)
  writeRoutes(app, context)
  operationRoutes(app, context)
}

function readRoutes(app: App, context: ChannelContext): void {
  const { db } = context
  app.get(
    '/alerts/channels',
    {
      schema: {
        summary: 'List channels, newest first',
        tags,
        querystring: PageQuery,
        response: answers(200, pageSchema(ChannelRecord), 400),
      },
    },
    async request => {
      const caller = callerOf(request)
      const { rows, total } = await listChannels(db, caller.projectId, pageOf(request.query))
      return { data: await showChannels(context, caller, rows), meta: metaOf(request.query, total) }
    },
  )

  app.get(
    '/alerts/channels/:id',
    { schema: { summary: 'One channel', tags, params: IdParams, response: answers(200, dataOf(ChannelRecord), 404) } },
    async request => {
      const { id } = request.params
      const caller = callerOf(request)
      const channel = isId(id) ? await findChannel(db, caller.projectId, id) : null
      if (!channel) throw notFound('channel')
      return { data: await showChannel(context, caller, channel) }
    },
  )
}

function writeRoutes(app: App, context: ChannelContext): void {
  const { db } = context
  const toolsFor = (request: FastifyRequest) => ({
    ...context,
    db: actingAs(db, request),
    findFaults: faultsFinder(request),
  })

  app.post(
    '/alerts/channels',
    {
      schema: {
        summary: 'Create a channel; the answer holds the whole signing secret',
        tags,
        body: ChannelCreate,
        response: answers(201, dataOf(ChannelRecord), 400, 402, 409, 429),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { channel, signingSecret } = await createChannel(toolsFor(request), caller, request.body, now())
      return reply.code(201).send({ data: await showChannel(context, caller, channel, signingSecret) })
    },
  )

  app.put(
    '/alerts/channels/:id',
    {
      schema: {
        summary: 'Change a channel; a config replaces the one before, masked values keep what is stored',
        tags,
        params: IdParams,
        body: ChannelUpdate,
        response: answers(200, dataOf(ChannelRecord), 400, 402, 403, 404, 409, 429),
      },
    },
    async request => {
      const caller = callerOf(request)
      const channel = await changeChannel(toolsFor(request), caller, request.params.id, request.body, now())
      return { data: await showChannel(context, caller, channel) }
    },
  )

  app.delete(
    '/alerts/channels/:id',
    {
      schema: {
        summary: 'Delete a channel with its rules and its log',
        tags,
        params: IdParams,
        response: answers(200, DeletedResponse, 404),
      },
    },
    async request => {
      const { id } = request.params
      if (!isId(id) || !(await deleteChannel(actingAs(db, request), callerOf(request).projectId, id)))
        throw notFound('channel')
      return { data: { id, deleted: true as const } }
    },
  )
}

function operationRoutes(app: App, context: ChannelContext): void {
  const { db, secrets } = context
  const schemaOf = (summary: string) => ({
    summary,
    tags,
    params: IdParams,
    response: answers(200, dataOf(ChannelRecord), 404),
  })

  app.post(
    '/alerts/channels/:id/rotate-secret',
    { schema: schemaOf('Make a new signing secret, shown in this answer only') },
    async request => {
      const caller = callerOf(request)
      const { channel, signingSecret } = await rotateSecret(
        { db: actingAs(db, request), secrets },
        caller.projectId,
        request.params.id,
        now(),
      )
      return { data: await showChannel(context, caller, channel, signingSecret) }
    },
  )

  app.post('/alerts/channels/:id/resume', { schema: schemaOf('Resume a paused channel') }, async request => {
    const caller = callerOf(request)
    const channel = await resumeChannel(actingAs(db, request), caller.projectId, request.params.id, now())
    return { data: await showChannel(context, caller, channel) }
  })

  app.post(
    '/alerts/channels/:id/test',
    {
      schema: {
        summary: 'Queue a monitor.down that says it is a test; answers its entry in the log',
        description: 'Mail addresses that are not confirmed are sent a confirmation instead.',
        tags,
        params: IdParams,
        response: answers(200, dataOf(LogEntry), 404, 409, 429),
      },
    },
    async request => {
      const caller = callerOf(request)
      const { projectId } = caller
      const deliveryId = await sendTest(context, caller, request.params.id, now())
      const entry = await findDelivery(db, projectId, deliveryId)
      if (!entry) throw notFound('channel')
      return { data: presentLogEntry(entry, secrets, callerOf(request)) }
    },
  )
}
