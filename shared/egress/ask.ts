import type { Socket } from 'node:net'
import type { CheckError } from '../result.ts'
import { dial, firstPhaseOf } from './connect.ts'
import type { Signal } from './deadline.ts'
import { checkErrorOf, failureOf } from './failure.ts'
import type { Egress } from './index.ts'
import { enter, finish, startTrip, type Trip } from './trip.ts'

export type Asked = {
  error: CheckError | null
  /** what had come by then, also beside an error */
  answer: Buffer
  truncated: boolean
}

/**
 * Sends one text over TCP and reads until the other side closes or `maxBytes` have come, as WHOIS works. Never throws;
 * `signal` is the one deadline over name, connection and answer.
 */
export async function ask(
  target: { host: string; port: number },
  question: string,
  options: { signal: Signal; maxBytes: number },
  egress: Egress,
): Promise<Asked> {
  const trip = startTrip(options.signal, firstPhaseOf(target.host))
  const asked: Asked = { error: null, answer: Buffer.alloc(0), truncated: false }
  let socket: Socket | null = null
  try {
    socket = await dial(trip, target.host, target.port, egress)
    await converse(trip, socket, question, options.maxBytes, asked)
  } catch (error) {
    asked.error = checkErrorOf(failureOf(error))
  }
  socket?.destroy()
  finish(trip)
  return asked
}

function converse(trip: Trip, socket: Socket, question: string, maxBytes: number, asked: Asked): Promise<void> {
  enter(trip, 'transferUs')
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
