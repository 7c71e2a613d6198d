import type { Socket } from 'node:net'
import type { DeadlineSignal } from '../deadline.ts'
import { toCheckError, toEgressFailure } from '../failure.ts'
import { enterPhase, finishPhases, type PhaseTimer, startPhaseTimer } from '../phases.ts'
import type { Egress } from '../types.ts'
import { type ConnectResult, dial, getFirstPhase } from './connect.ts'

export type TcpDialogue = {
  /** what we say first */
  send: Buffer | null
  /** what comes back is read up to here; null: nobody listens */
  receive: {
    maxBytes: number
    /** asked now and then while more comes; true: that was enough */
    isEnough: (heard: Buffer) => boolean | Promise<boolean>
    /** so long a silence after the first word is the end; null: only the deadline is */
    quietMs: number | null
  } | null
}

/** `heard` null when nobody listened, or nothing came. */
export type TcpExchange = ConnectResult & { received: Buffer | null }

/** What comes in drops is not looked at with each of them. */
const LOOK_INTERVAL_MS = 20

/**
 * Opens a TCP connection, says something, listens and closes it. Never throws; `signal` is the one deadline. A target that
 * said something before the deadline has answered; one that said nothing has not (`timeout`).
 */
export async function runTcpExchange(
  target: { host: string; port: number },
  { send: say, receive: listen }: TcpDialogue,
  signal: DeadlineSignal,
  egress: Egress,
): Promise<TcpExchange> {
  const trip = startPhaseTimer(signal, getFirstPhase(target.host))
  const talked: Omit<TcpExchange, 'timings' | 'totalUs'> = { error: null, resolvedIp: null, received: null }
  try {
    const socket = await dial(trip, target.host, target.port, egress)
    talked.resolvedIp = socket.remoteAddress ?? null
    try {
      if (say !== null || listen !== null) enterPhase(trip, 'firstByteUs')
      if (say !== null) await write(trip, socket, say)
      if (listen !== null) talked.received = await readAnswer(trip, socket, listen)
    } finally {
      socket.destroy()
    }
  } catch (cause) {
    talked.error = toCheckError(toEgressFailure(cause))
  }
  const totalUs = finishPhases(trip)
  return { ...talked, timings: trip.timings, totalUs }
}

function write(trip: PhaseTimer, socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    trip.cancel = reject
    socket.on('error', reject)
    socket.write(bytes, () => resolve())
  })
}

function readAnswer(
  trip: PhaseTimer,
  socket: Socket,
  { maxBytes, isEnough, quietMs }: NonNullable<TcpDialogue['receive']>,
) {
  const chunks: Buffer[] = []
  let size = 0
  return new Promise<Buffer | null>((resolve, reject) => {
    let isLooking = false
    let again: NodeJS.Timeout | undefined
    let quiet: NodeJS.Timeout | undefined
    const stop = () => {
      clearTimeout(again)
      clearTimeout(quiet)
    }
    const end = () => {
      stop()
      resolve(size === 0 ? null : Buffer.concat(chunks).subarray(0, maxBytes))
    }
    const fail = (error: unknown) => {
      stop()
      reject(error)
    }
    const look = async () => {
      isLooking = true
      const seen = size
      if (await isEnough(Buffer.concat(chunks))) {
        end()
        return
      }
      again = setTimeout(() => {
        isLooking = false
        if (size > seen) look().catch(fail)
      }, LOOK_INTERVAL_MS)
    }
    trip.cancel = failure => (size === 0 ? fail(failure) : end())
    socket.on('error', error => (size === 0 ? fail(error) : end()))
    socket.on('end', end)
    socket.on('data', chunk => {
      if (size === 0) enterPhase(trip, 'transferUs')
      chunks.push(chunk)
      size += chunk.length
      if (size >= maxBytes) {
        end()
        return
      }
      clearTimeout(quiet)
      if (quietMs !== null) quiet = setTimeout(end, quietMs)
      if (!isLooking) look().catch(fail)
    })
  })
}
