import type { FastifyRequest } from 'fastify'
import type { AddressTools } from '../../../accounts/email/confirmation/actions.ts'
import type { InstallationLimits } from '../../../accounts/plans/plans.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import { createRoute, deleteRoute, listRoute, readRoute, updateRoute } from '../../../foundation/web/resource-routes.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { found } from '../../../foundation/web/server/errors.ts'
import { dataSchema, IdParams, responseSchemas } from '../../../foundation/web/validation/schemas.ts'
import { createFaultFinder } from '../../../foundation/web/validation/validation-errors.ts'
import type { CheckLiteral } from '../../channels/registry.ts'
import { LogEntry, toLogEntryResponse } from '../../deliveries/log/log-entry.ts'
import { findDelivery } from '../../deliveries/log/store.ts'
import { ChannelCreate, ChannelRecord, ChannelUpdate } from '../schemas.ts'
import { changeChannel, createChannel, resumeChannel, rotateSecret, sendTest } from './actions.ts'
import { buildChannelResponse, buildChannelResponses } from './reader.ts'
import { CHANNEL_VERSION, deleteChannel, findChannel, listChannels } from './store.ts'

type ChannelContext = {
  db: Db
  secrets: SecretCipher
  checkLiteral: CheckLiteral
  limits: InstallationLimits
  /** the external relay; null: the built-in one */
  relayUrl: string | null
} & Omit<AddressTools, 'secrets'>

const tags = ['Alerts']

/** Alert channels (docs/design/alerting.md#channels). */
export function channelRoutes(app: App, context: ChannelContext): void {
  readRoutes(app, context)
  writeRoutes(app, context)
  operationRoutes(app, context)
}

function readRoutes(app: App, context: ChannelContext): void {
  const { db } = context
  listRoute(app, '/alerts/channels', {
    summary: 'List channels',
    description: 'Newest first. Secrets are masked.',
    tags,
    record: ChannelRecord,
    list: async (request, bounds) => {
      const caller = getCaller(request)
      const { rows, total } = await listChannels(db, caller.projectId, bounds)
      return { data: await buildChannelResponses(context, caller, rows), total }
    },
  })

  readRoute(app, '/alerts/channels/:id', {
    version: CHANNEL_VERSION,
    summary: 'Get a channel',
    tags,
    record: ChannelRecord,
    read: async request => {
      const { id } = request.params
      const caller = getCaller(request)
      const channel = found(isId(id) && (await findChannel(db, caller.projectId, id)), 'channel')
      return await buildChannelResponse(context, caller, channel)
    },
  })
}

function writeRoutes(app: App, context: ChannelContext): void {
  const { db } = context
  const toolsFor = (request: FastifyRequest) => ({
    ...context,
    db: withRequestActor(db, request),
    findFaults: createFaultFinder(request),
  })

  createRoute(app, '/alerts/channels', {
    version: CHANNEL_VERSION,
    summary: 'Create a channel',
    description:
      'The response contains the whole signing secret of a webhook. It is not shown again. Mail addresses that are not confirmed are sent a confirmation.',
    tags,
    body: ChannelCreate,
    record: ChannelRecord,
    errors: [400, 402, 409, 429],
    create: async request => {
      const caller = getCaller(request)
      const { channel, signingSecret } = await createChannel(toolsFor(request), caller, request.body, now())
      return await buildChannelResponse(context, caller, channel, signingSecret)
    },
  })

  updateRoute(app, '/alerts/channels/:id', {
    version: { ...CHANNEL_VERSION, isCheckedByAction: true },
    summary: 'Update a channel',
    description:
      'Omitted fields are not changed. A `config` replaces the previous one; masked values in it keep the stored values.',
    tags,
    body: ChannelUpdate,
    record: ChannelRecord,
    errors: [400, 402, 403, 404, 409, 429],
    update: async request => {
      const caller = getCaller(request)
      const channel = await changeChannel(toolsFor(request), caller, request.params.id, request.body, now())
      return await buildChannelResponse(context, caller, channel)
    },
  })

  deleteRoute(app, '/alerts/channels/:id', {
    version: CHANNEL_VERSION,
    summary: 'Delete a channel',
    description: 'Also deletes the rules, subscriptions and log entries of the channel.',
    tags,
    remove: async request => {
      const { id } = request.params
      const { projectId } = getCaller(request)
      return found(isId(id) && (await deleteChannel(withRequestActor(db, request), projectId, id)), 'channel')
    },
  })
}

function operationRoutes(app: App, context: ChannelContext): void {
  const { db, secrets } = context
  const buildSchema = (summary: string, description: string) => ({
    summary,
    description,
    tags,
    params: IdParams,
    response: responseSchemas(200, dataSchema(ChannelRecord), 404),
  })

  app.post(
    '/alerts/channels/:id/rotate-secret',
    {
      schema: buildSchema(
        'Rotate the signing secret',
        'The response contains the whole new secret. It is not shown again. Every later attempt is signed with it.',
      ),
    },
    async request => {
      const caller = getCaller(request)
      const { channel, signingSecret } = await rotateSecret(
        { db: withRequestActor(db, request), secrets },
        caller.projectId,
        request.params.id,
        now(),
      )
      return { data: await buildChannelResponse(context, caller, channel, signingSecret) }
    },
  )

  const resume = buildSchema(
    'Resume a paused channel',
    'Resets the count of failures. Skipped deliveries are not sent; they can be replayed.',
  )
  app.post('/alerts/channels/:id/resume', { schema: resume }, async request => {
    const caller = getCaller(request)
    const channel = await resumeChannel(withRequestActor(db, request), caller.projectId, request.params.id, now())
    return { data: await buildChannelResponse(context, caller, channel) }
  })

  app.post(
    '/alerts/channels/:id/test',
    {
      schema: {
        summary: 'Send a test alert',
        description:
          'Queues a `monitor.down` that is marked as a test, and returns its log entry. Mail addresses that are not confirmed are sent a confirmation instead.',
        tags,
        params: IdParams,
        response: responseSchemas(200, dataSchema(LogEntry), 404, 409, 429),
      },
    },
    async request => {
      const caller = getCaller(request)
      const { projectId } = caller
      const deliveryId = await sendTest(context, caller, request.params.id, now())
      const entry = found(await findDelivery(db, projectId, deliveryId), 'channel')
      return { data: toLogEntryResponse(entry, secrets, getCaller(request)) }
    },
  )
}
