import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { createTargetFailure } from '../failure.ts'
import { enterPhase, type PhaseTimer } from '../phases.ts'
import { type Body, type BodyOptions, type ReceivedBody, readBody } from './body.ts'
import type { PreparedRequest } from './prepare.ts'

const MAX_HEADER_BYTES = 64 * 1024

export type ExchangeOptions = {
  body: BodyOptions
  /** fills up while the body comes */
  received: ReceivedBody
  /** told as soon as the headers are there; answers whether the body is wanted */
  onHeaders: (response: IncomingMessage) => boolean
  /** told after the whole answer, when both sides leave the connection open */
  onFree: () => void
}

/** Sends one request on an open connection and reads its answer. Null when the body was not wanted. */
export function exchange(
  trip: PhaseTimer,
  socket: Socket,
  hop: PreparedRequest,
  options: ExchangeOptions,
): Promise<Body | null> {
  enterPhase(trip, 'firstByteUs')
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | null = null
    const receive = (response: IncomingMessage) => {
      answer = response
      enterPhase(trip, 'transferUs')
      try {
        response.on('error', reject)
        if (!options.onHeaders(response)) return resolve(null)
        readBody(response, options.body, options.received, resolve, reject)
      } catch (error) {
        reject(error)
      }
    }
    trip.cancel = reject
    socket.once('free', options.onFree)
    const request = httpRequest({
      // A socket of ours and no agent: node would make a new agent for each request otherwise.
      createConnection: () => socket,
      method: hop.method,
      path: hop.path,
      headers: hop.headers,
      maxHeaderSize: MAX_HEADER_BYTES,
    })
    // without an agent node takes it for its last one, whatever the headers say
    request.shouldKeepAlive = hop.keepAlive
    request.once('response', receive)
    // What comes after a whole answer is no matter of ours.
    request.on('error', error => answer?.complete || reject(error))
    request.on('upgrade', () =>
      reject(createTargetFailure('invalid_response', 'the target changed to another protocol')),
    )
    // An end without a word. Once there are headers, the response says by itself whether it was cut.
    request.on(
      'close',
      () => answer !== null || reject(createTargetFailure('connection_reset', 'the target closed the connection')),
    )
    request.end(hop.body)
  })
}
