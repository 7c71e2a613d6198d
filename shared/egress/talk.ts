import type { Socket } from 'node:net'
import { type Connected, dial, firstPhaseOf } from './connect.ts'
import type { Signal } from './deadline.ts'
import { checkErrorOf, failureOf } from './failure.ts'
import type { Egress } from './index.ts'
import { enter, finish, startTrip, type Trip } from './trip.ts'

export type Talk = {
  /** what we say first */
  say: Buffer | null
  /** what comes back is read up to here; null: nobody listens */
  listen: {
    maxBytes: number
    /** asked now and then while more comes; true: that was enough */
    isEnough: (heard: Buffer) => boolean | Promise<boolean>
    /** so long a silence after the first word is the end; null: only the deadline is */
    quietMs: number | null
  } | null
}

/** `heard` null when nobody listened, or nothing came. */
export type Talked = Connected & { heard: Buffer | null }

/** What comes in drops is not looked at with each of them. */
const LOOK_EVERY_MS = 20

/**
 * Opens a TCP connection, says something, listens and closes it. Never throws; `signal` is the one deadline. A target that
 * said something before the deadline has answered; one that said nothing has not (`timeout`).
 */
export async function talkTcp(
  target: { host: string; port: number },
  { say, listen }: Talk,
  signal: Signal,
  egress: Egress,
): Promise<Talked> {
  const trip = startTrip(signal, firstPhaseOf(target.host))
  const talked: Omit<Talked, 'timings' | 'totalUs'> = { error: null, resolvedIp: null, heard: null }
  try {
    const socket = await dial(trip, target.host, target.port, egress)
    talked.resolvedIp = socket.remoteAddress ?? null
    try {
      if (say !== null || listen !== null) enter(trip, 'firstByteUs')
      if (say !== null) await write(trip, socket, say)
      if (listen !== null) talked.heard = await hear(trip, socket, listen)
    } finally {
      socket.destroy()
    }
  } catch (cause) {
    talked.error = checkErrorOf(failureOf(cause))
  }
  const totalUs = finish(trip)
  return { ...talked, timings: trip.timings, totalUs }
}

function write(trip: Trip, socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    trip.cancel = reject
    socket.on('error', reject)
    socket.write(bytes, () => resolve())
  })
}

function hear(trip: Trip, socket: Socket, { maxBytes, isEnough, quietMs }: NonNullable<Talk['listen']>) {
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
      }, LOOK_EVERY_MS)
    }
    trip.cancel = failure => (size === 0 ? fail(failure) : end())
    socket.on('error', error => (size === 0 ? fail(error) : end()))
    socket.on('end', end)
    socket.on('data', chunk => {
      if (size === 0) enter(trip, 'transferUs')
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
