import type { Socket } from 'node:net'
import type { CheckError } from '../../checks/result.ts'
import type { DeadlineSignal } from '../deadline.ts'
import { toCheckError, toEgressFailure } from '../failure.ts'
import { enterPhase, finishPhases, type PhaseTimer, startPhaseTimer } from '../phases.ts'
import type { Egress } from '../types.ts'
import { dial, getFirstPhase } from './connect.ts'

export type RoundTrip = {
  error: CheckError | null
  /** what was received, even with an error */
  answer: Buffer
  truncated: boolean
}

/**
 * Sends a text over TCP and reads until the peer closes the connection or `maxBytes` are received, as WHOIS requires. Never
 * throws; `signal` is the deadline for name, connection and answer.
 */
export async function makeRoundTrip(
  target: { host: string; port: number },
  question: string,
  options: { signal: DeadlineSignal; maxBytes: number },
  egress: Egress,
): Promise<RoundTrip> {
  const phases = startPhaseTimer(options.signal, getFirstPhase(target.host))
  const result: RoundTrip = { error: null, answer: Buffer.alloc(0), truncated: false }
  let socket: Socket | null = null
  try {
    socket = await dial(phases, target.host, target.port, egress)
    await sendAndRead(phases, socket, question, options.maxBytes, result)
  } catch (error) {
    result.error = toCheckError(toEgressFailure(error))
  }
  socket?.destroy()
  finishPhases(phases)
  return result
}

function sendAndRead(
  phases: PhaseTimer,
  socket: Socket,
  question: string,
  maxBytes: number,
  result: RoundTrip,
): Promise<void> {
  enterPhase(phases, 'transferUs')
  const chunks: Buffer[] = []
  let size = 0
  return new Promise<void>((resolve, reject) => {
    phases.cancel = reject
    socket.on('error', reject)
    socket.on('data', chunk => {
      chunks.push(chunk)
      size += chunk.length
      if (size <= maxBytes) return
      result.truncated = true
      resolve()
    })
    socket.on('close', () => resolve())
    socket.on('end', () => resolve())
    socket.write(question)
  }).finally(() => {
    result.answer = Buffer.concat(chunks).subarray(0, maxBytes)
  })
}
