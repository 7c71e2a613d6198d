import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../../../../shared/process/log.ts'
import { sha256 } from '../../../foundation/platform/crypto/encryption.ts'
import { now, nowMs, withTimeout } from '../../../foundation/platform/time/clock.ts'
import { limitBodySize } from '../../../foundation/web/html/forms.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { notFound, unauthorized } from '../../../foundation/web/server/errors.ts'
import { claimOnce, scheduleTeamCheck } from '../installations/installation-store.ts'
import { getChatMetrics } from '../metrics.ts'
import { postResponse } from '../provider/provider-reader.ts'
import type { ChatSettings } from '../settings.ts'
import { type ButtonClick, parseClick, removeButton } from './button-click.ts'
import { parseCommand } from './command.ts'
import {
  acknowledgeFromChat,
  buildUnacknowledgedReply,
  type CommandTools,
  findActiveInstallation,
  runCommand,
} from './command-actions.ts'
import { parseProviderEvent } from './provider-event.ts'
import { buildFailureReply, buildPendingReply, buildUnknownTeamReply, type EphemeralReply } from './reply.ts'
import { isSignedByProvider, REPLAY_WINDOW_SECONDS } from './signature.ts'

type RequestTools = CommandTools & { settings: ChatSettings | null; log: Log }

const MAX_BODY_BYTES = 512 * 1024
/** The chat waits 3 s. Later answers are posted to the response URL. */
const REPLY_TIMEOUT_MS = 2_200
const RESPONSE_TIMEOUT_MS = 2_000

type Kind = 'command' | 'click' | 'event'

/**
 * Routes for requests of the provider: the slash command, button clicks and events. The signature authenticates them.
 * A command or click is processed once (docs/design/chat.md#requests).
 */
export function chatRequestRoutes(app: App, tools: RequestTools): void {
  // the signature covers the raw body
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: unknown, body: Buffer) => body)

  limitBodySize(app, MAX_BODY_BYTES)

  app.post('/chat/commands', async (request, reply) => {
    const { signature, text } = verifyRequest(tools, 'command', request)
    const fields = new URLSearchParams(text)
    const user = { teamId: fields.get('team_id') ?? '', chatUserId: fields.get('user_id') ?? '', ip: request.ip }
    const command = parseCommand(fields.get('text') ?? '')
    const work = runOnce(tools, 'command', signature, () => runCommand(tools, user, command, now()))
    return replyInTime(tools, work, fields.get('response_url') ?? '', reply)
  })

  app.post('/chat/interactions', async (request, reply) => {
    const { signature, text } = verifyRequest(tools, 'click', request)
    const click = parseClick(parseJson(new URLSearchParams(text).get('payload') ?? ''))
    if (click === null) return reply.send()
    const work = runOnce(tools, 'click', signature, () => handleClick(tools, click, request.ip)).catch(error =>
      sendResponse(tools, click.responseUrl, reportFailure(tools, 'click', error)),
    )
    await withTimeout(work, REPLY_TIMEOUT_MS)
    return reply.send()
  })

  app.post('/chat/events', async (request, reply) => {
    const { text } = verifyRequest(tools, 'event', request)
    const { challenge, endedTeamId } = parseProviderEvent(parseJson(text))
    if (challenge !== null) return reply.type('text/plain').send(challenge)
    if (endedTeamId !== null) await scheduleTeamCheck(tools.db, endedTeamId, now())
    getChatMetrics(tools.provider.metrics).requests.inc({ kind: 'event', outcome: 'answered' })
    return reply.send()
  })
}

/** Verifies the signature of a request. Throws 401 for an invalid or old signature, 404 without an app. */
function verifyRequest({ settings, provider }: RequestTools, kind: Kind, request: FastifyRequest) {
  if (!settings) throw notFound('chat app')
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  const [timestamp, signature] = ['x-slack-request-timestamp', 'x-slack-signature'].map(name =>
    String(request.headers[name]),
  )
  if (!isSignedByProvider({ timestamp: timestamp!, signature: signature!, body }, settings.signingSecret, nowMs())) {
    getChatMetrics(provider.metrics).requests.inc({ kind, outcome: 'forged' })
    throw unauthorized('the signature is invalid or older than five minutes')
  }
  return { signature: signature!, text: body.toString('utf8') }
}

/** Runs work once for a signature. Returns null for a repeated request. */
async function runOnce<T>({ db, provider }: RequestTools, kind: Kind, signature: string, work: () => Promise<T>) {
  const forgetAt = new Date(nowMs() + 2 * REPLAY_WINDOW_SECONDS * 1_000)
  const isFirst = await claimOnce(db, sha256(`request ${signature}`), forgetAt)
  getChatMetrics(provider.metrics).requests.inc({ kind, outcome: isFirst ? 'answered' : 'repeated' })
  return isFirst ? work() : null
}

/** Responds within the time limit, or posts the answer later. An internal error is reported to the user as well. */
async function replyInTime(
  tools: RequestTools,
  work: Promise<EphemeralReply | null>,
  responseUrl: string,
  reply: FastifyReply,
) {
  const settled = work.catch(error => reportFailure(tools, 'command', error)).then(answer => ({ answer }))
  const inTime = await withTimeout(settled, REPLY_TIMEOUT_MS)
  if (inTime !== null) return reply.send(inTime.answer ?? undefined)
  settled.then(({ answer }) => answer && postResponse(responseUrl, answer, RESPONSE_TIMEOUT_MS, tools.provider))
  return reply.send(buildPendingReply())
}

function reportFailure({ log, provider }: RequestTools, kind: Kind, error: unknown): EphemeralReply {
  getChatMetrics(provider.metrics).requests.inc({ kind, outcome: 'failed' })
  log.error({ err: error, kind }, 'a request from a chat failed')
  return buildFailureReply()
}

/** Acknowledges an incident and replaces the button by the outcome. A user without the right gets a private message. */
async function handleClick(tools: RequestTools, click: ButtonClick, ip: string): Promise<void> {
  const { teamId, chatUserId, incidentId, responseUrl, message } = click
  const installation = await findActiveInstallation(tools, teamId)
  if (!installation) return sendResponse(tools, responseUrl, buildUnknownTeamReply(tools.publicUrl))
  const user = { teamId, chatUserId, ip }
  const { isFinal, message: outcome } = await acknowledgeFromChat(tools, installation, user, incidentId, now())
  if (!isFinal)
    return sendResponse(tools, responseUrl, { response_type: 'ephemeral', replace_original: false, text: outcome })
  if (message.isEphemeral) {
    const remaining = await buildUnacknowledgedReply(tools, installation, outcome, now())
    return sendResponse(tools, responseUrl, { ...remaining, replace_original: true })
  }
  const blocks = removeButton(message.blocks, incidentId, outcome)
  return sendResponse(tools, responseUrl, { replace_original: true, text: message.text || outcome, blocks })
}

async function sendResponse({ provider }: RequestTools, responseUrl: string, body: object): Promise<void> {
  await postResponse(responseUrl, body, RESPONSE_TIMEOUT_MS, provider)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
