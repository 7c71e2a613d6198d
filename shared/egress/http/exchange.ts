import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { createTargetFailure } from '../failure.ts'
import { enterPhase, type PhaseTimer } from '../phases.ts'
import { type Body, type BodyOptions, type ReceivedBody, readBody } from './body.ts'
import type { PreparedRequest } from './prepare.ts'

const MAX_HEADER_BYTES = 64 * 1024

type ExchangeOptions = {
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
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | null = null
    const receive = (response: IncomingMessage) => {
      answer = response
      enterPhase(phases, 'transferUs')
      try {
        response.on('error', reject)
        if (!options.onHeaders(response)) return resolve(null)
        readBody(response, options.body, options.received, resolve, reject)
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
