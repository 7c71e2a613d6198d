import { spawn, spawnSync } from 'node:child_process'
import type { PingStats } from '../../checks/result.ts'
import { createInternalFailure, createTargetFailure, type EgressFailure, toEgressFailure } from '../failure.ts'
import { nowUs } from '../monotonic.ts'
import type { IpFamily } from './packet.ts'
import { parsePingOutput } from './ping-output.ts'

/** A fixed path and English output, whatever the environment says. */
const ENV = { LC_ALL: 'C', PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }
const LOOPBACK: Record<IpFamily, string> = { 4: '127.0.0.1', 6: '::1' }
/** Over the longest timeout of a check, should nobody end it. */
const PROGRAM_TIMEOUT_S = 65
const KILL_DELAY_MS = 1000
const MAX_OUTPUT_LENGTH = 64 * 1024

export type ProgramRun = { stats: PingStats | null; failure: EgressFailure | null }

/** Whether the system's `ping` (of iputils) is there and may send: it is asked for one echo to this machine itself. */
export function isPingAvailable(program: string, family: IpFamily): boolean {
  const args = ['-n', '-q', `-${family}`, '-c', '1', '-W', '1', '--', LOOPBACK[family]]
  const { stdout } = spawnSync(program, args, { env: ENV, encoding: 'utf8', timeout: 2000 })
  // An answer is not asked for: some machines do not answer echoes.
  return parsePingOutput(stdout ?? '') !== null
}

/**
 * Sends echoes with the system's `ping`. `address` is an IP address, never a text of a customer's. `stop` makes it end at
 * once with what came until then.
 */
export function runPing(
  program: string,
  address: string,
  family: IpFamily,
  { count, gapMs }: { count: number; gapMs: number },
): { done: Promise<ProgramRun>; stop: () => void } {
  // Not -w: with it iputils sends on until so many were answered.
  const args = ['-n', `-${family}`, '-c', `${count}`, '-i', `${gapMs / 1000}`, '-W', `${PROGRAM_TIMEOUT_S}`]
  const child = spawn(program, [...args, '--', address], { env: ENV, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let complaint = ''
  let lostTimer: NodeJS.Timeout | undefined
  let killTimer: NodeJS.Timeout | undefined
  const startedUs = nowUs()
  const stop = () => {
    // On SIGINT it prints its summary.
    child.kill('SIGINT')
    killTimer ??= setTimeout(() => child.kill('SIGKILL'), KILL_DELAY_MS)
  }
  child.stdout.setEncoding('utf8').on('data', text => {
    if (output.length < MAX_OUTPUT_LENGTH) output += text
    // Some versions wait for the rest as long as for the first.
    if (text.includes('bytes from')) {
      const rttMs = (nowUs() - startedUs) / 1000
      lostTimer ??= setTimeout(stop, (count - 1) * gapMs + computeLossTimeoutMs(rttMs))
    }
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    if (complaint.length < MAX_OUTPUT_LENGTH) complaint += text
  })
  const done = new Promise<ProgramRun>(resolve => {
    child.once('error', error => resolve({ stats: null, failure: createUnavailableFailure(error.message) }))
    child.once('close', () => {
      clearTimeout(lostTimer)
      clearTimeout(killTimer)
      const stats = parsePingOutput(output)
      resolve({ stats, failure: stats && stats.received > 0 ? null : failureIn(`${complaint}\n${output}`, stats) })
    })
  })
  return { done, stop }
}

const WORDS: [RegExp, () => EgressFailure][] = [
  [/network is unreachable/i, () => toEgressFailure({ code: 'ENETUNREACH' })],
  [/address family .*not supported/i, () => toEgressFailure({ code: 'EAFNOSUPPORT' })],
  [/cannot assign requested address/i, () => toEgressFailure({ code: 'EADDRNOTAVAIL' })],
  [/(host|net|port) (is )?unreachable|no route to host/i, () => toEgressFailure({ code: 'EHOSTUNREACH' })],
]

function failureIn(text: string, stats: PingStats | null): EgressFailure {
  const found = WORDS.find(([words]) => words.test(text))
  if (found) return found[1]()
  if (stats) return createTargetFailure('timeout', 'the target does not answer')
  return createUnavailableFailure(text.trim().split('\n')[0] ?? '')
}

/** Once an echo was answered, another one is lost when it takes twice as long as the longest so far, and a second at least. */
export const computeLossTimeoutMs = (longestMs: number) => Math.max(1000, longestMs * 2)

export function createUnavailableFailure(why: string): EgressFailure {
  return createInternalFailure('icmp_unavailable', `the probe cannot ping: ${why}`.slice(0, 300))
}
