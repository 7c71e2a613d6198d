import type { Socket } from 'node:net'
import type { CheckError } from '../../checks/result.ts'
import type { DeadlineSignal } from '../deadline.ts'
import { toCheckError, toEgressFailure } from '../failure.ts'
import { enterPhase, finishPhases, type PhaseTimer, startPhaseTimer } from '../phases.ts'
import type { Egress } from '../types.ts'
import { dial, getFirstPhase } from './connect.ts'

export type RoundTrip = {
  error: CheckError | null
  /** what had come by then, also beside an error */
  answer: Buffer
  truncated: boolean
}

/**
 * Sends one text over TCP and reads until the other side closes or `maxBytes` have come, as WHOIS works. Never throws;
 * `signal` is the one deadline over name, connection and answer.
 */
export async function makeRoundTrip(
  target: { host: string; port: number },
  question: string,
  options: { signal: DeadlineSignal; maxBytes: number },
  egress: Egress,
): Promise<RoundTrip> {
  const trip = startPhaseTimer(options.signal, getFirstPhase(target.host))
  const asked: RoundTrip = { error: null, answer: Buffer.alloc(0), truncated: false }
  let socket: Socket | null = null
  try {
    socket = await dial(trip, target.host, target.port, egress)
    await sendAndRead(trip, socket, question, options.maxBytes, asked)
  } catch (error) {
    asked.error = toCheckError(toEgressFailure(error))
  }
  socket?.destroy()
  finishPhases(trip)
  return asked
}

function sendAndRead(
  trip: PhaseTimer,
  socket: Socket,
  question: string,
  maxBytes: number,
  asked: RoundTrip,
): Promise<void> {
  enterPhase(trip, 'transferUs')
  const chunks: Buffer[] = []
  let size = 0
  return new Promise<void>((resolve, reject) => {
    trip.cancel = reject
    socket.on('error', reject)
    socket.on('data', chunk => {
      chunks.push(chunk)
      size += chunk.length
      if (size <= maxBytes) return
      asked.truncated = true
      resolve()
    })
    socket.on('close', () => resolve())
    socket.on('end', () => resolve())
    socket.write(question)
  }).finally(() => {
    asked.answer = Buffer.concat(chunks).subarray(0, maxBytes)
  })
}
