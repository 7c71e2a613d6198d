import type { X509Certificate } from 'node:crypto'
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls'
import type { CheckError, Timings } from '../../checks/result.ts'
import { type DeadlineSignal, startTimeLimit } from '../deadline.ts'
import {
  createTargetFailure,
  type EgressFailure,
  pickFailure,
  toCheckError,
  toEgressFailure,
  toNetworkFailure,
  toTlsFailure,
} from '../failure.ts'
import {
  enterPhase,
  finishPhases,
  type PhaseTimer,
  startPhaseTimer,
  throwIfAborted,
  waitWithDeadline,
} from '../phases.ts'
import type { Egress } from '../types.ts'

/**
 * Timeout of an address while there is another one to try: one lost SYN and its retransmission. It is shorter when the rest of
 * the time, in equal parts for the addresses, is less.
 */
const ADDRESS_TIMEOUT_MS = 2000
const MAX_ADDRESSES_TRIED = 4

export type ConnectResult = {
  error: CheckError | null
  timings: Timings
  totalUs: number
  resolvedIp: string | null
}

/** Opens a TCP connection and closes it immediately. Never throws; `signal` is the deadline for name and connection. */
export async function connectTcp(
  target: { host: string; port: number },
  signal: DeadlineSignal,
  egress: Egress,
): Promise<ConnectResult> {
  const phases = startPhaseTimer(signal, getFirstPhase(target.host))
  let error: CheckError | null = null
  let resolvedIp: string | null = null
  try {
    const socket = await dial(phases, target.host, target.port, egress)
    resolvedIp = socket.remoteAddress ?? null
    socket.destroy()
  } catch (cause) {
    error = toCheckError(toEgressFailure(cause))
  }
  const totalUs = finishPhases(phases)
  return { error, timings: phases.timings, totalUs, resolvedIp }
}

/**
 * Opens a connection for a protocol that a library implements. The caller closes it. `signal` covers only name and
 * connection. Throws an EgressFailure.
 */
export async function openTcp(
  target: { host: string; port: number },
  signal: DeadlineSignal,
  egress: Egress,
): Promise<Socket> {
  const phases = startPhaseTimer(signal, getFirstPhase(target.host))
  try {
    return await dial(phases, target.host, target.port, egress)
  } finally {
    finishPhases(phases)
  }
}

export const getFirstPhase = (host: string) => (isIP(host) ? 'connectUs' : 'dnsUs')

/**
 * Opens a connection to one of the host's addresses; when one fails, the next is tried. Throws an EgressFailure: the first
 * one that is the target's fault, so that a missing IPv6 route of the probe does not hide a refused connection. `path`: the
 * path of the HTTP request, for the guard.
 */
export async function dial(
  phases: PhaseTimer,
  host: string,
  port: number,
  egress: Egress,
  path: string | null = null,
): Promise<Socket> {
  throwIfAborted(phases)
  const found = egress.resolve(host, port, path)
  const addresses = Array.isArray(found) ? found : await waitWithDeadline(phases, found)
  if (phases.phase === 'dnsUs') enterPhase(phases, 'connectUs')
  let failure: EgressFailure | null = null
  const tried = Math.min(addresses.length, MAX_ADDRESSES_TRIED)
  for (let i = 0; i < tried; i++) {
    try {
      return await open(phases, { address: addresses[i]!, port, path }, egress, tried - i)
    } catch (error) {
      throwIfAborted(phases)
      failure = pickFailure(failure, toEgressFailure(error))
    }
  }
  throw failure ?? createTargetFailure('dns_not_found', 'the name has no address')
}

type Endpoint = { address: string; port: number; path: string | null }

function open(
  phases: PhaseTimer,
  { address, port, path }: Endpoint,
  egress: Egress,
  addressesLeft: number,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, noDelay: true })
    const fail = (failure: EgressFailure) => {
      stopTimer?.()
      socket.destroy()
      reject(failure)
    }
    const stopTimer =
      addressesLeft > 1
        ? startTimeLimit(computeAddressTimeoutMs(phases, addressesLeft), () =>
            fail(createTargetFailure('timeout', 'the target does not respond')),
          )
        : null
    phases.cancel = fail
    // Never removed: an error between two stages would have no listener.
    let isSent = false
    socket.on('error', error => fail(isSent ? toNetworkFailure(error) : toEgressFailure(error)))
    // emitted just before connect(2), after whose failure the socket is destroyed
    socket.once('connectionAttempt', () => process.nextTick(() => (isSent = !socket.destroyed)))
    socket.once('connect', () => {
      stopTimer?.()
      try {
        // Checks the peer itself, not only the requested address.
        egress.assertAllowed(socket.remoteAddress ?? address, port, path)
        resolve(socket)
      } catch (error) {
        fail(toEgressFailure(error))
      }
    })
  })
}

function computeAddressTimeoutMs({ signal }: PhaseTimer, addressesLeft: number): number {
  const remainingMs = signal.getRemainingMs?.() ?? Number.POSITIVE_INFINITY
  return Math.min(ADDRESS_TIMEOUT_MS, remainingMs / addressesLeft)
}

type TlsResult = { socket: TLSSocket; certificate: X509Certificate | null; failure: EgressFailure | null }

/** Negotiates TLS on an open connection. An invalid certificate is returned together with the failure. */
export function startTls(
  phases: PhaseTimer,
  plain: Socket,
  host: string,
  secureContext: SecureContext,
): Promise<TlsResult> {
  enterPhase(phases, 'tlsUs')
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      socket: plain,
      host,
      servername: isIP(host) ? '' : host,
      secureContext,
      ALPNProtocols: ['http/1.1'],
      // The certificate is verified: `authorized` is read below, before any byte is sent. Rejecting here would discard the
      // certificate, whose dates are reported.
      rejectUnauthorized: false,
    })
    const fail = (failure: EgressFailure) => {
      plain.destroy()
      reject(failure)
    }
    phases.cancel = fail
    socket.on('error', error => fail(toEgressFailure(error)))
    socket.once('secureConnect', () => {
      const { authorized, authorizationError } = socket
      const code = String(authorizationError)
      // Parsed lazily. Node attaches the chain only to the first of these objects.
      const certificate = socket.getPeerX509Certificate() ?? null
      resolve({ socket, certificate, failure: authorized ? null : toTlsFailure(code, code) })
    })
  })
}
