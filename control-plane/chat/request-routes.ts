import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../../shared/log.ts'
import { inTime, now, nowMs } from '../platform/clock.ts'
import { sha256 } from '../platform/secrets.ts'
import type { App } from '../web/app.ts'
import { notFound, unauthorized } from '../web/errors.ts'
import { limitBodies } from '../web/forms.ts'
import { type Answer, failedAnswer, slowAnswer, unknownTeamAnswer } from './answer.ts'
import { type Click, readClick, withoutButton } from './click.ts'
import { readCommand } from './command.ts'
import { acknowledge, activeInstallation, type CommandTools, runCommand, waitingAnswer } from './command-actions.ts'
import { readEvent } from './event.ts'
import { chatMeters } from './meters.ts'
import { respond } from './provider-reader.ts'
import type { ChatSettings } from './settings.ts'
import { isFromProvider, REPLAY_WINDOW_SECONDS } from './signature.ts'
import { lookAtTeam, spend } from './store.ts'

export type RequestTools = CommandTools & { settings: ChatSettings | null; log: Log }

const BODY_BYTES = 512 * 1024
/** The chat waits 3 s, and what is answered there later goes to the address that came along. */
const PATIENCE_MS = 2_200
const RESPOND_MS = 2_000

type Kind = 'command' | 'click' | 'event'

/**
 * What people do in a chat: the slash command, and buttons; and what the provider has to tell of a team. The signature
 * authenticates; nothing that people do happens twice.
 */
export function chatRequestRoutes(app: App, tools: RequestTools): void {
  // the signature is over the bytes as they came
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: unknown, body: Buffer) => body)

  limitBodies(app, BODY_BYTES)

  app.post('/chat/commands', async (request, reply) => {
    const { signature, text } = admit(tools, 'command', request)
    const fields = new URLSearchParams(text)
    const speaker = { teamId: fields.get('team_id') ?? '', chatUserId: fields.get('user_id') ?? '', ip: request.ip }
    const command = readCommand(fields.get('text') ?? '')
    const work = once(tools, 'command', signature, () => runCommand(tools, speaker, command, now()))
    return answerInTime(tools, work, fields.get('response_url') ?? '', reply)
  })

  app.post('/chat/interactions', async (request, reply) => {
    const { signature, text } = admit(tools, 'click', request)
    const click = readClick(parse(new URLSearchParams(text).get('payload') ?? ''))
    if (click === null) return reply.send()
    const work = once(tools, 'click', signature, () => takeClick(tools, click, request.ip)).catch(error =>
      tell(tools, click.responseUrl, failed(tools, 'click', error)),
    )
    await inTime(work, PATIENCE_MS)
    return reply.send()
  })

  app.post('/chat/events', async (request, reply) => {
    const { text } = admit(tools, 'event', request)
    const { challenge, endedTeamId } = readEvent(parse(text))
    if (challenge !== null) return reply.type('text/plain').send(challenge)
    if (endedTeamId !== null) await lookAtTeam(tools.db, endedTeamId, now())
    chatMeters(tools.provider.metrics).requests.inc({ kind: 'event', outcome: 'answered' })
    return reply.send()
  })
}

/** What a request says. Throws 401 for what the provider did not sign just now, 404 without an app. */
function admit({ settings, provider }: RequestTools, kind: Kind, request: FastifyRequest) {
  if (!settings) throw notFound('chat app')
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  const [timestamp, signature] = ['x-slack-request-timestamp', 'x-slack-signature'].map(name =>
    String(request.headers[name]),
  )
  if (!isFromProvider({ timestamp: timestamp!, signature: signature!, body }, settings.signingSecret, nowMs())) {
    chatMeters(provider.metrics).requests.inc({ kind, outcome: 'forged' })
    throw unauthorized('the signature is not that of the chat, or not of the last five minutes')
  }
  return { signature: signature!, text: body.toString('utf8') }
}

/** Does what a request asks for; nothing, and answers null, for one that came before. */
async function once<T>({ db, provider }: RequestTools, kind: Kind, signature: string, work: () => Promise<T>) {
  const forgetAt = new Date(nowMs() + 2 * REPLAY_WINDOW_SECONDS * 1_000)
  const isFirst = await spend(db, sha256(`request ${signature}`), forgetAt)
  chatMeters(provider.metrics).requests.inc({ kind, outcome: isFirst ? 'answered' : 'repeated' })
  return isFirst ? work() : null
}

/** Answers at once what is ready at once; the rest follows. The person hears of a fault of ours, too. */
async function answerInTime(
  tools: RequestTools,
  work: Promise<Answer | null>,
  responseUrl: string,
  reply: FastifyReply,
) {
  const sure = work.catch(error => failed(tools, 'command', error)).then(answer => ({ answer }))
  const inside = await inTime(sure, PATIENCE_MS)
  if (inside !== null) return reply.send(inside.answer ?? undefined)
  sure.then(({ answer }) => answer && respond(responseUrl, answer, RESPOND_MS, tools.provider))
  return reply.send(slowAnswer())
}

function failed({ log, provider }: RequestTools, kind: Kind, error: unknown): Answer {
  chatMeters(provider.metrics).requests.inc({ kind, outcome: 'failed' })
  log.error({ err: error, kind }, 'a request from a chat failed')
  return failedAnswer()
}

/** Acknowledges, and puts what came of it in the place of the button; who may not is told so alone. */
async function takeClick(tools: RequestTools, click: Click, ip: string): Promise<void> {
  const { teamId, chatUserId, incidentId, responseUrl, message } = click
  const installation = await activeInstallation(tools, teamId)
  if (!installation) return tell(tools, responseUrl, unknownTeamAnswer(tools.publicUrl))
  const speaker = { teamId, chatUserId, ip }
  const { isOver, sentence } = await acknowledge(tools, installation, speaker, incidentId, now())
  if (!isOver) return tell(tools, responseUrl, { response_type: 'ephemeral', replace_original: false, text: sentence })
  if (message.isEphemeral) {
    const left = await waitingAnswer(tools, installation, sentence, now())
    return tell(tools, responseUrl, { ...left, replace_original: true })
  }
  const blocks = withoutButton(message.blocks, incidentId, sentence)
  return tell(tools, responseUrl, { replace_original: true, text: message.text || sentence, blocks })
}

async function tell({ provider }: RequestTools, responseUrl: string, body: object): Promise<void> {
  await respond(responseUrl, body, RESPOND_MS, provider)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
