import type { X509Certificate } from 'node:crypto'
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls'
import { type CheckError, FailureSource, type Timings } from '../../checks/result.ts'
import type { DeadlineSignal } from '../deadline.ts'
import { createTargetFailure, type EgressFailure, toCheckError, toEgressFailure, toTlsFailure } from '../failure.ts'
import {
  enterPhase,
  finishPhases,
  type PhaseTimer,
  startPhaseTimer,
  throwIfAborted,
  waitWithDeadline,
} from '../phases.ts'
import type { Egress } from '../types.ts'

/** How long an address may take while there is another one to try: one lost SYN and its repetition. */
const ADDRESS_TIMEOUT_MS = 2000
const MAX_ADDRESSES_TRIED = 4

export type ConnectResult = {
  error: CheckError | null
  timings: Timings
  totalUs: number
  resolvedIp: string | null
}

/** Opens a TCP connection and closes it at once. Never throws; `signal` is the one deadline over name and connection. */
export async function connectTcp(
  target: { host: string; port: number },
  signal: DeadlineSignal,
  egress: Egress,
): Promise<ConnectResult> {
  const trip = startPhaseTimer(signal, getFirstPhase(target.host))
  let error: CheckError | null = null
  let resolvedIp: string | null = null
  try {
    const socket = await dial(trip, target.host, target.port, egress)
    resolvedIp = socket.remoteAddress ?? null
    socket.destroy()
  } catch (cause) {
    error = toCheckError(toEgressFailure(cause))
  }
  const totalUs = finishPhases(trip)
  return { error, timings: trip.timings, totalUs, resolvedIp }
}

/**
 * An open connection for a protocol that a library speaks. Whoever asks for it closes it; `signal` covers name and
 * connection only. Throws an EgressFailure.
 */
export async function openTcp(
  target: { host: string; port: number },
  signal: DeadlineSignal,
  egress: Egress,
): Promise<Socket> {
  const trip = startPhaseTimer(signal, getFirstPhase(target.host))
  try {
    return await dial(trip, target.host, target.port, egress)
  } finally {
    finishPhases(trip)
  }
}

export const getFirstPhase = (host: string) => (isIP(host) ? 'connectUs' : 'dnsUs')

/**
 * An open connection to one of the host's addresses, the next one tried when one fails. Throws an EgressFailure: the
 * first that is the target's fault, so that a missing IPv6 route on our side does not hide a refused connection. `path` is that
 * of the HTTP request that the connection is for.
 */
export async function dial(
  trip: PhaseTimer,
  host: string,
  port: number,
  egress: Egress,
  path: string | null = null,
): Promise<Socket> {
  throwIfAborted(trip)
  const found = egress.resolve(host, port, path)
  const addresses = Array.isArray(found) ? found : await waitWithDeadline(trip, found)
  if (trip.phase === 'dnsUs') enterPhase(trip, 'connectUs')
  let failure: EgressFailure | null = null
  const tried = Math.min(addresses.length, MAX_ADDRESSES_TRIED)
  for (let i = 0; i < tried; i++) {
    try {
      return await open(trip, { address: addresses[i]!, port, path }, egress, i < tried - 1)
    } catch (error) {
      throwIfAborted(trip)
      const next = toEgressFailure(error)
      const isWorse =
        failure === null || (failure.source !== FailureSource.TARGET && next.source === FailureSource.TARGET)
      if (isWorse) failure = next
    }
  }
  throw failure ?? createTargetFailure('dns_not_found', 'the name has no address')
}

type Place = { address: string; port: number; path: string | null }

function open(trip: PhaseTimer, { address, port, path }: Place, egress: Egress, hasNext: boolean): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, noDelay: true })
    const fail = (failure: EgressFailure) => {
      clearTimeout(timer)
      socket.destroy()
      reject(failure)
    }
    const timer = hasNext
      ? setTimeout(() => fail(createTargetFailure('timeout', 'the target does not answer')), ADDRESS_TIMEOUT_MS)
      : undefined
    trip.cancel = fail
    // Stays on for the socket's whole life: between two stages an error would have no listener.
    socket.on('error', error => fail(toEgressFailure(error)))
    socket.once('connect', () => {
      clearTimeout(timer)
      try {
        // The peer itself, and not only the address that we asked for (decisions 11.3).
        egress.assertAllowed(socket.remoteAddress ?? address, port, path)
        resolve(socket)
      } catch (error) {
        fail(toEgressFailure(error))
      }
    })
  })
}

export type TlsResult = { socket: TLSSocket; certificate: X509Certificate | null; failure: EgressFailure | null }

/** Negotiates TLS on an open connection. A certificate that does not hold comes back beside the failure. */
export function startTls(
  trip: PhaseTimer,
  plain: Socket,
  host: string,
  secureContext: SecureContext,
): Promise<TlsResult> {
  enterPhase(trip, 'tlsUs')
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      socket: plain,
      host,
      servername: isIP(host) ? '' : host,
      secureContext,
      ALPNProtocols: ['http/1.1'],
      // Verified all the same: `authorized` is looked at below, before a byte is sent. Refusing here would throw away
      // the certificate, of which a customer wants to see the date.
      rejectUnauthorized: false,
    })
    const fail = (failure: EgressFailure) => {
      plain.destroy()
      reject(failure)
    }
    trip.cancel = fail
    socket.on('error', error => fail(toEgressFailure(error)))
    socket.once('secureConnect', () => {
      const { authorized, authorizationError } = socket
      const code = String(authorizationError)
      // Parsed only where somebody asks for it. Node hands out the chain with the first of these objects only.
      const certificate = socket.getPeerX509Certificate() ?? null
      resolve({ socket, certificate, failure: authorized ? null : toTlsFailure(code, code) })
    })
  })
}
