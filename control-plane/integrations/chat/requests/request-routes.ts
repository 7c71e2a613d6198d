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

export type RequestTools = CommandTools & { settings: ChatSettings | null; log: Log }

const MAX_BODY_BYTES = 512 * 1024
/** The chat waits 3 s, and what is answered there later goes to the address that came along. */
const REPLY_TIMEOUT_MS = 2_200
const RESPONSE_TIMEOUT_MS = 2_000

type Kind = 'command' | 'click' | 'event'

/**
 * What people do in a chat: the slash command, and buttons; and what the provider has to tell of a team. The signature
 * authenticates; nothing that people do happens twice.
 */
export function chatRequestRoutes(app: App, tools: RequestTools): void {
  // the signature is over the bytes as they came
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: unknown, body: Buffer) => body)

  limitBodySize(app, MAX_BODY_BYTES)

  app.post('/chat/commands', async (request, reply) => {
    const { signature, text } = verifyRequest(tools, 'command', request)
    const fields = new URLSearchParams(text)
    const speaker = { teamId: fields.get('team_id') ?? '', chatUserId: fields.get('user_id') ?? '', ip: request.ip }
    const command = parseCommand(fields.get('text') ?? '')
    const work = runOnce(tools, 'command', signature, () => runCommand(tools, speaker, command, now()))
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

/** What a request says. Throws 401 for what the provider did not sign just now, 404 without an app. */
function verifyRequest({ settings, provider }: RequestTools, kind: Kind, request: FastifyRequest) {
  if (!settings) throw notFound('chat app')
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  const [timestamp, signature] = ['x-slack-request-timestamp', 'x-slack-signature'].map(name =>
    String(request.headers[name]),
  )
  if (!isSignedByProvider({ timestamp: timestamp!, signature: signature!, body }, settings.signingSecret, nowMs())) {
    getChatMetrics(provider.metrics).requests.inc({ kind, outcome: 'forged' })
    throw unauthorized('the signature is not that of the chat, or not of the last five minutes')
  }
  return { signature: signature!, text: body.toString('utf8') }
}

/** Does what a request asks for; nothing, and answers null, for one that came before. */
async function runOnce<T>({ db, provider }: RequestTools, kind: Kind, signature: string, work: () => Promise<T>) {
  const forgetAt = new Date(nowMs() + 2 * REPLAY_WINDOW_SECONDS * 1_000)
  const isFirst = await claimOnce(db, sha256(`request ${signature}`), forgetAt)
  getChatMetrics(provider.metrics).requests.inc({ kind, outcome: isFirst ? 'answered' : 'repeated' })
  return isFirst ? work() : null
}

/** Answers at once what is ready at once; the rest follows. The person hears of a fault of ours, too. */
async function replyInTime(
  tools: RequestTools,
  work: Promise<EphemeralReply | null>,
  responseUrl: string,
  reply: FastifyReply,
) {
  const sure = work.catch(error => reportFailure(tools, 'command', error)).then(answer => ({ answer }))
  const inside = await withTimeout(sure, REPLY_TIMEOUT_MS)
  if (inside !== null) return reply.send(inside.answer ?? undefined)
  sure.then(({ answer }) => answer && postResponse(responseUrl, answer, RESPONSE_TIMEOUT_MS, tools.provider))
  return reply.send(buildPendingReply())
}

function reportFailure({ log, provider }: RequestTools, kind: Kind, error: unknown): EphemeralReply {
  getChatMetrics(provider.metrics).requests.inc({ kind, outcome: 'failed' })
  log.error({ err: error, kind }, 'a request from a chat failed')
  return buildFailureReply()
}

/** Acknowledges, and puts what came of it in the place of the button; who may not is told so alone. */
async function handleClick(tools: RequestTools, click: ButtonClick, ip: string): Promise<void> {
  const { teamId, chatUserId, incidentId, responseUrl, message } = click
  const installation = await findActiveInstallation(tools, teamId)
  if (!installation) return sendResponse(tools, responseUrl, buildUnknownTeamReply(tools.publicUrl))
  const speaker = { teamId, chatUserId, ip }
  const { isOver, sentence } = await acknowledgeFromChat(tools, installation, speaker, incidentId, now())
  if (!isOver)
    return sendResponse(tools, responseUrl, { response_type: 'ephemeral', replace_original: false, text: sentence })
  if (message.isEphemeral) {
    const left = await buildUnacknowledgedReply(tools, installation, sentence, now())
    return sendResponse(tools, responseUrl, { ...left, replace_original: true })
  }
  const blocks = removeButton(message.blocks, incidentId, sentence)
  return sendResponse(tools, responseUrl, { replace_original: true, text: message.text || sentence, blocks })
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
