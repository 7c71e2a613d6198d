import { spawn, spawnSync } from 'node:child_process'
import type { PingStats } from '../../checks/result.ts'
import { createInternalFailure, createTargetFailure, type EgressFailure, toEgressFailure } from '../failure.ts'
import { nowUs } from '../monotonic.ts'
import type { IpFamily } from './packet.ts'
import { parsePingOutput } from './ping-output.ts'

/** A fixed path and English output, independent of the environment. */
const ENV = { LC_ALL: 'C', PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }
const LOOPBACK: Record<IpFamily, string> = { 4: '127.0.0.1', 6: '::1' }
/** Longer than the maximum timeout of a check. */
const PROGRAM_TIMEOUT_S = 65
const KILL_DELAY_MS = 1000
const MAX_OUTPUT_LENGTH = 64 * 1024

type ProgramRun = { stats: PingStats | null; failure: EgressFailure | null }

/** Whether the system's `ping` (iputils) is installed and may send: tested with one echo to loopback. */
export function isPingAvailable(program: string, family: IpFamily): boolean {
  const args = ['-n', '-q', `-${family}`, '-c', '1', '-W', '1', '--', LOOPBACK[family]]
  const { stdout } = spawnSync(program, args, { env: ENV, encoding: 'utf8', timeout: 2000 })
  // An answer is not required: some machines do not answer echoes.
  return parsePingOutput(stdout ?? '') !== null
}

/**
 * Sends echoes with the system's `ping`. `address` is an IP address, never text from a user. `stop` ends it immediately with
 * the replies received so far.
 */
export function runPing(
  program: string,
  address: string,
  family: IpFamily,
  { count, gapMs }: { count: number; gapMs: number },
): { done: Promise<ProgramRun>; stop: () => void } {
  // Not -w: with it, iputils continues to send until `count` echoes are answered.
  const args = ['-n', `-${family}`, '-c', `${count}`, '-i', `${gapMs / 1000}`, '-W', `${PROGRAM_TIMEOUT_S}`]
  const child = spawn(program, [...args, '--', address], { env: ENV, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let errorOutput = ''
  let lostTimer: NodeJS.Timeout | undefined
  let killTimer: NodeJS.Timeout | undefined
  const startedUs = nowUs()
  const stop = () => {
    // ping prints its summary on SIGINT.
    child.kill('SIGINT')
    killTimer ??= setTimeout(() => child.kill('SIGKILL'), KILL_DELAY_MS)
  }
  child.stdout.setEncoding('utf8').on('data', text => {
    if (output.length < MAX_OUTPUT_LENGTH) output += text
    // Some versions wait for the remaining replies as long as for the first.
    if (text.includes('bytes from')) {
      const rttMs = (nowUs() - startedUs) / 1000
      lostTimer ??= setTimeout(stop, (count - 1) * gapMs + computeLossTimeoutMs(rttMs))
    }
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    if (errorOutput.length < MAX_OUTPUT_LENGTH) errorOutput += text
  })
  const done = new Promise<ProgramRun>(resolve => {
    child.once('error', error => resolve({ stats: null, failure: createUnavailableFailure(error.message) }))
    child.once('close', () => {
      clearTimeout(lostTimer)
      clearTimeout(killTimer)
      const stats = parsePingOutput(output)
      resolve({ stats, failure: stats && stats.received > 0 ? null : failureIn(`${errorOutput}\n${output}`, stats) })
    })
  })
  return { done, stop }
}

const KNOWN_MESSAGES: [RegExp, () => EgressFailure][] = [
  [/network is unreachable/i, () => toEgressFailure({ code: 'ENETUNREACH' })],
  [/address family .*not supported/i, () => toEgressFailure({ code: 'EAFNOSUPPORT' })],
  [/cannot assign requested address/i, () => toEgressFailure({ code: 'EADDRNOTAVAIL' })],
  [/(host|net|port) (is )?unreachable|no route to host/i, () => toEgressFailure({ code: 'EHOSTUNREACH' })],
]

function failureIn(text: string, stats: PingStats | null): EgressFailure {
  const found = KNOWN_MESSAGES.find(([words]) => words.test(text))
  if (found) return found[1]()
  if (stats) return createTargetFailure('timeout', 'the target does not respond')
  return createUnavailableFailure(text.trim().split('\n')[0] ?? '')
}

/** Once an echo is answered, another one is lost after twice the longest round phases so far, but at least 1 s. */
export const computeLossTimeoutMs = (maxMs: number) => Math.max(1000, maxMs * 2)

export function createUnavailableFailure(why: string): EgressFailure {
  return createInternalFailure('icmp_unavailable', `the probe cannot ping: ${why}`.slice(0, 300))
}
