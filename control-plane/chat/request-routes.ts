import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../../shared/log.ts'
import { inTime, now, nowMs } from '../platform/clock.ts'
import { sha256 } from '../platform/secrets.ts'
import type { App } from '../web/app.ts'
import { notFound, unauthorized } from '../web/errors.ts'
import { type Answer, failedAnswer, slowAnswer, unknownTeamAnswer } from './answer.ts'
import { type Click, readClick, withoutButton } from './click.ts'
import { readCommand } from './command.ts'
import { acknowledge, activeInstallation, type CommandTools, runCommand } from './command-actions.ts'
import { chatMeters } from './meters.ts'
import { respond } from './provider-reader.ts'
import type { ChatSettings } from './settings.ts'
import { isFromProvider, REPLAY_WINDOW_SECONDS } from './signature.ts'
import { spend } from './store.ts'

export type RequestTools = CommandTools & { settings: ChatSettings | null; log: Log }

const BODY_BYTES = 512 * 1024
/** The chat waits 3 s, and what is answered there later goes to the address that came along. */
const PATIENCE_MS = 2_200
const RESPOND_MS = 2_000

type Kind = 'command' | 'click'

/** What people do in a chat: the slash command, and buttons. The signature authenticates; nothing happens twice. */
export function chatRequestRoutes(app: App, tools: RequestTools): void {
  // the signature is over the bytes as they came
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_BYTES }, async (_: unknown, body: Buffer) => body)

  app.post('/chat/commands', async (request, reply) => {
    const fields = await admit(tools, 'command', request)
    if (fields === null) return reply.send()
    const speaker = { teamId: fields.get('team_id') ?? '', chatUserId: fields.get('user_id') ?? '', ip: request.ip }
    const work = runCommand(tools, speaker, readCommand(fields.get('text') ?? ''), now())
    return answerInTime(tools, work, fields.get('response_url') ?? '', reply)
  })

  app.post('/chat/interactions', async (request, reply) => {
    const fields = await admit(tools, 'click', request)
    const click = fields === null ? null : readClick(parse(fields.get('payload') ?? ''))
    if (click === null) return reply.send()
    const work = takeClick(tools, click, request.ip).catch(error =>
      tell(tools, click.responseUrl, failed(tools, 'click', error)),
    )
    await inTime(work, PATIENCE_MS)
    return reply.send()
  })
}

/** The form of a request; null for one that came before. Throws 401 for what the provider did not sign just now, 404 without an app. */
async function admit(tools: RequestTools, kind: Kind, request: FastifyRequest): Promise<URLSearchParams | null> {
  const { settings, db, provider } = tools
  if (!settings) throw notFound('chat app')
  const { requests } = chatMeters(provider.metrics)
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  const [timestamp, signature] = ['x-slack-request-timestamp', 'x-slack-signature'].map(name =>
    String(request.headers[name]),
  )
  if (!isFromProvider({ timestamp: timestamp!, signature: signature!, body }, settings.signingSecret, nowMs())) {
    requests.inc({ kind, outcome: 'forged' })
    throw unauthorized('the signature is not that of the chat, or not of the last five minutes')
  }
  const forgetAt = new Date(nowMs() + 2 * REPLAY_WINDOW_SECONDS * 1_000)
  const isFirst = await spend(db, sha256(`request ${signature}`), forgetAt)
  requests.inc({ kind, outcome: isFirst ? 'answered' : 'repeated' })
  return isFirst ? new URLSearchParams(body.toString('utf8')) : null
}

/** Answers at once what is ready at once; the rest follows. The person hears of a fault of ours, too. */
async function answerInTime(tools: RequestTools, work: Promise<Answer>, responseUrl: string, reply: FastifyReply) {
  const sure = work.catch(error => failed(tools, 'command', error))
  const answer = await inTime(sure, PATIENCE_MS)
  if (answer === null) sure.then(late => respond(responseUrl, late, RESPOND_MS, tools.provider))
  return reply.send(answer ?? slowAnswer())
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
  const blocks = withoutButton(message.blocks, incidentId, sentence)
  const replaced = { replace_original: true, text: message.text || sentence }
  return tell(
    tools,
    responseUrl,
    message.isEphemeral ? { replace_original: true, text: sentence } : { ...replaced, blocks },
  )
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
