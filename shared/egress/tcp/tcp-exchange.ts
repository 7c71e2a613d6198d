import type { Socket } from 'node:net'
import { type DeadlineSignal, startTimeLimit } from '../deadline.ts'
import { toCheckError, toEgressFailure } from '../failure.ts'
import { nowUs } from '../monotonic.ts'
import { enterPhase, finishPhases, type PhaseTimer, startPhaseTimer } from '../phases.ts'
import type { Egress } from '../types.ts'
import { type ConnectResult, dial, getFirstPhase } from './connect.ts'

type TcpDialogue = {
  /** sent first; null: nothing */
  send: Buffer | null
  /** how the answer is read; null: it is not read */
  receive: {
    maxBytes: number
    /** called while data arrives; true ends the reading */
    isEnough: (received: Buffer) => boolean | Promise<boolean>
    /** reading ends after this silence following the first byte; null: only at the deadline */
    quietMs: number | null
  } | null
}

/** `received`: null when the answer was not read, or nothing arrived. */
export type TcpExchange = ConnectResult & { received: Buffer | null }

/** Minimum interval between calls of `isEnough`. */
const MIN_CHECK_INTERVAL_MS = 20
/** A call that takes long is followed by a longer interval, so that a slow sender does not keep the probe busy. */
const INTERVAL_PER_CALL = 10

/**
 * Opens a TCP connection, sends, reads and closes it. Never throws; `signal` is the deadline. If at least one byte arrived
 * before the deadline, the target has answered; otherwise the error is `timeout`.
 */
export async function runTcpExchange(
  target: { host: string; port: number },
  { send, receive }: TcpDialogue,
  signal: DeadlineSignal,
  egress: Egress,
): Promise<TcpExchange> {
  const phases = startPhaseTimer(signal, getFirstPhase(target.host))
  const result: Omit<TcpExchange, 'timings' | 'totalUs'> = { error: null, resolvedIp: null, received: null }
  try {
    const socket = await dial(phases, target.host, target.port, egress)
    result.resolvedIp = socket.remoteAddress ?? null
    try {
      if (send !== null || receive !== null) enterPhase(phases, 'firstByteUs')
      if (send !== null) await write(phases, socket, send)
      if (receive !== null) result.received = await readAnswer(phases, socket, receive)
    } finally {
      socket.destroy()
    }
  } catch (cause) {
    result.error = toCheckError(toEgressFailure(cause))
  }
  const totalUs = finishPhases(phases)
  return { ...result, timings: phases.timings, totalUs }
}

function write(phases: PhaseTimer, socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    phases.cancel = reject
    socket.on('error', reject)
    socket.write(bytes, () => resolve())
  })
}

function readAnswer(
  phases: PhaseTimer,
  socket: Socket,
  { maxBytes, isEnough, quietMs }: NonNullable<TcpDialogue['receive']>,
) {
  const chunks: Buffer[] = []
  let size = 0
  return new Promise<Buffer | null>((resolve, reject) => {
    let isChecking = false
    let again: NodeJS.Timeout | undefined
    let stopQuiet = () => {}
    const stop = () => {
      clearTimeout(again)
      stopQuiet()
    }
    const end = () => {
      stop()
      resolve(size === 0 ? null : Buffer.concat(chunks).subarray(0, maxBytes))
    }
    const fail = (error: unknown) => {
      stop()
      reject(error)
    }
    const check = async () => {
      isChecking = true
      const checked = size
      const startedUs = nowUs()
      if (await isEnough(Buffer.concat(chunks))) {
        end()
        return
      }
      again = setTimeout(
        () => {
          isChecking = false
          if (size > checked) check().catch(fail)
        },
        Math.max(MIN_CHECK_INTERVAL_MS, (INTERVAL_PER_CALL * (nowUs() - startedUs)) / 1000),
      )
    }
    phases.cancel = failure => (size === 0 ? fail(failure) : end())
    socket.on('error', error => (size === 0 ? fail(error) : end()))
    socket.on('end', end)
    socket.on('data', chunk => {
      if (size === 0) enterPhase(phases, 'transferUs')
      chunks.push(chunk)
      size += chunk.length
      if (size >= maxBytes) {
        end()
        return
      }
      stopQuiet()
      if (quietMs !== null) stopQuiet = startTimeLimit(quietMs, end)
      if (!isChecking) check().catch(fail)
    })
  })
}
