import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { createTargetFailure } from '../failure.ts'
import { enterPhase, type PhaseTimer } from '../phases.ts'
import { type Body, type BodyOptions, type ReceivedBody, readBody } from './body.ts'
import { acceptMalformed, findHeaderProblem } from './malformed.ts'
import type { PreparedRequest } from './prepare.ts'

const MAX_HEADER_BYTES = 64 * 1024

type ExchangeOptions = {
  /** also accepts a response that is not valid HTTP, but that browsers read; on connections that are not kept open only */
  acceptMalformed: boolean
  body: BodyOptions
  /** filled while the body arrives */
  received: ReceivedBody
  /** called when the headers have arrived; returns whether the body is needed */
  onHeaders: (response: IncomingMessage) => boolean
  /** called after the complete response if both sides keep the connection open */
  onFree: () => void
}

/** Sends one request on an open connection and reads the response. Null when the body is not needed. */
export function exchange(
  phases: PhaseTimer,
  socket: Socket,
  hop: PreparedRequest,
  options: ExchangeOptions,
): Promise<Body | null> {
  enterPhase(phases, 'firstByteUs')
  const isTolerant = options.acceptMalformed && !hop.keepAlive
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | null = null
    const areAcceptable = (headers: string[]) => {
      const problem = isTolerant ? findHeaderProblem(headers) : null
      if (problem !== null)
        reject(createTargetFailure('invalid_response', `the response is not valid HTTP: ${problem}`))
      return problem === null
    }
    const receive = (response: IncomingMessage) => {
      answer = response
      enterPhase(phases, 'transferUs')
      try {
        response.on('error', reject)
        if (!areAcceptable(response.rawHeaders)) return
        if (!options.onHeaders(response)) return resolve(null)
        const finish = (body: Body) => areAcceptable(response.rawTrailers) && resolve(body)
        readBody(response, options.body, options.received, finish, reject)
      } catch (error) {
        reject(error)
      }
    }
    phases.cancel = reject
    socket.once('free', options.onFree)
    const request = httpRequest({
      // An existing socket without an agent: otherwise Node creates an agent for each request.
      createConnection: () => socket,
      method: hop.method,
      path: hop.path,
      headers: hop.headers,
      maxHeaderSize: MAX_HEADER_BYTES,
    })
    // without an agent Node closes the connection, whatever the headers say
    request.shouldKeepAlive = hop.keepAlive
    if (isTolerant) acceptMalformed(request, MAX_HEADER_BYTES)
    request.once('response', receive)
    // Errors after a complete response are ignored.
    request.on('error', error => answer?.complete || reject(error))
    request.on('upgrade', () =>
      reject(createTargetFailure('invalid_response', 'the target switched to another protocol')),
    )
    // Closed before any headers. Once there are headers, the response reports truncation itself.
    request.on(
      'close',
      () => answer !== null || reject(createTargetFailure('connection_reset', 'the target closed the connection')),
    )
    request.end(hop.body)
  })
}
