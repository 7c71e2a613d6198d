import type { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Observation } from '../../checks/result.ts'
import type { DeadlineSignal } from '../deadline.ts'
import { createTargetFailure, toCheckError, toEgressFailure } from '../failure.ts'
import { nowUs } from '../monotonic.ts'
import { enterPhase, finishPhases, type PhaseTimer, startPhaseTimer } from '../phases.ts'
import { dial, getFirstPhase, startTls } from '../tcp/connect.ts'
import type { Egress } from '../types.ts'
import { joinChunks, type ReceivedBody } from './body.ts'
import type { Connection, Connections } from './connections.ts'
import { exchange } from './exchange.ts'
import { type PreparedRequest, prepareRequest, type RequestParts } from './prepare.ts'
import { followRedirect, type Redirect, readRedirect } from './redirect.ts'

/** Maximum number of redirects. */
const MAX_REDIRECTS = 10

type SendOptions = {
  /** the deadline for names, connections, redirects and the body; see createDeadline */
  signal: DeadlineSignal
  /** after decompression; the rest is not read, which is not an error */
  maxBodyBytes: number
  followRedirects: boolean
  /** default true; false: the body is only read to measure it, and `body` is its first SAMPLE_BYTES */
  keepBody?: boolean
  /** default false: only a response that is valid HTTP; see acceptMalformed. Without effect with `keepAlive`. */
  acceptMalformed?: boolean
  /** reuses and keeps open connections, with `keepAlive`. A broken one is a failure; requests are not repeated. */
  connections?: Connections
}

export type HttpRequest = RequestParts & SendOptions

/** The outcome of a request. With an `error`, the other fields contain what was known before it. */
export type HttpResponse = Observation & {
  /** the body was longer than maxBodyBytes */
  truncated: boolean
  redirects: number
}

/** Sends one HTTP request through the guard. Never throws for what the target does; an invalid `url` throws a TypeError. */
export function sendRequest(request: HttpRequest, egress: Egress): Promise<HttpResponse> {
  return sendPrepared(prepareRequest(request), request, egress)
}

/** Sends a prepared request through the guard. Never throws and never rejects. */
export async function sendPrepared(
  prepared: PreparedRequest,
  options: SendOptions,
  egress: Egress,
): Promise<HttpResponse> {
  const phases = startPhaseTimer(options.signal, getFirstPhase(prepared.host))
  const answer = emptyAnswer(phases)
  const received: ReceivedBody = { chunks: [], size: 0, isCompressed: false }
  try {
    let hop: PreparedRequest | null = prepared
    while (hop) hop = await sendHop(phases, hop, options, egress, answer, received)
  } catch (error) {
    answer.error = toCheckError(toEgressFailure(error))
    if (received.size > 0 && !received.isCompressed) answer.body = joinChunks(received)
  }
  answer.totalUs = finishPhases(phases)
  return answer
}

function emptyAnswer(phases: PhaseTimer): HttpResponse {
  return {
    error: null,
    timings: phases.timings,
    totalUs: 0,
    statusCode: null,
    headers: null,
    body: null,
    resolvedIp: null,
    certificate: null,
    firstCertificate: null,
    truncated: false,
    redirects: 0,
  }
}

/** Sends one request and reads its response. Returns the next request after a redirect. */
async function sendHop(
  phases: PhaseTimer,
  hop: PreparedRequest,
  options: SendOptions,
  egress: Egress,
  answer: HttpResponse,
  received: ReceivedBody,
): Promise<PreparedRequest | null> {
  const kept = options.connections?.take(hop)
  const connection = kept ?? (await connect(phases, hop, egress, answer))
  return await exchangeOn(phases, hop, connection, options, egress, answer, received)
}

async function connect(
  phases: PhaseTimer,
  hop: PreparedRequest,
  egress: Egress,
  answer: HttpResponse,
): Promise<Connection> {
  const plain = await dial(phases, hop.host, hop.port, egress, hop.path)
  const opened = { plain, openedAtUs: nowUs() }
  answer.resolvedIp = plain.remoteAddress ?? null
  if (!hop.isTls) return { ...opened, socket: plain, certificate: null }
  try {
    const { socket, certificate, failure } = await startTls(phases, plain, hop.host, egress.secureContext())
    showCertificate(answer, certificate)
    if (failure) throw failure
    return { ...opened, socket, certificate }
  } catch (error) {
    plain.destroy()
    throw error
  }
}

function showCertificate(answer: HttpResponse, certificate: X509Certificate | null): void {
  answer.certificate = certificate
  answer.firstCertificate ??= certificate
}

async function exchangeOn(
  phases: PhaseTimer,
  hop: PreparedRequest,
  connection: Connection,
  options: SendOptions,
  egress: Egress,
  answer: HttpResponse,
  received: ReceivedBody,
): Promise<PreparedRequest | null> {
  let isFree = false
  try {
    // also for a reused connection: the peer is checked before each request
    answer.resolvedIp = connection.plain.remoteAddress ?? null
    if (answer.resolvedIp !== null) egress.assertAllowed(answer.resolvedIp, hop.port, hop.path)
    showCertificate(answer, connection.certificate)
    let redirect: Redirect | null = null
    const body = await exchange(phases, connection.socket, hop, {
      body: { maxBytes: options.maxBodyBytes, keepAll: options.keepBody ?? true },
      received,
      acceptMalformed: options.acceptMalformed ?? false,
      onHeaders(response) {
        answer.statusCode = response.statusCode ?? 0
        answer.headers = toHeaders(response)
        redirect = options.followRedirects ? readRedirect(response) : null
        return redirect === null
      },
      onFree: () => {
        isFree = true
      },
    })
    if (body === null) return redirected(phases, hop, answer, redirect!)
    answer.body = body.bytes
    answer.truncated = body.truncated
    return null
  } finally {
    if (isFree && options.connections) options.connections.keep(hop, connection)
    else connection.plain.destroy()
  }
}

function redirected(
  phases: PhaseTimer,
  hop: PreparedRequest,
  answer: HttpResponse,
  redirect: Redirect,
): PreparedRequest {
  if (answer.redirects === MAX_REDIRECTS) {
    throw createTargetFailure('too_many_redirects', `the target redirects more than ${MAX_REDIRECTS} times`)
  }
  answer.redirects++
  const next = followRedirect(hop, redirect, Date.now())
  // what follows is about the next target, which has not answered yet
  Object.assign(answer, { statusCode: null, headers: null, certificate: null, resolvedIp: null })
  enterPhase(phases, getFirstPhase(next.host))
  return next
}

/** Names in lower case, repeated headers joined by ", ". */
function toHeaders({ rawHeaders }: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = Object.create(null)
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    const value = rawHeaders[i + 1]!
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  return headers
}
