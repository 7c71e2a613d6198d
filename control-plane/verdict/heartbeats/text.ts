import { formatDuration } from '../../alerting/events/duration.ts'
import type { HeartbeatMonitor, PingSignal } from './types.ts'

/** How much of a body is kept (decisions 3.7). */
export const MAX_PING_BODY_BYTES = 10_240
const MAX_MESSAGE_LENGTH = 200

/** What a job sent as text that PostgreSQL can keep, cut at 10 kB between two characters; null when there is nothing. */
export function decodePingBody(bytes: Buffer): string | null {
  const kept = new TextDecoder().decode(bytes.subarray(0, MAX_PING_BODY_BYTES), { stream: true })
  return kept === '' ? null : kept.replaceAll('\0', '\ufffd')
}

/** Why a job failed: the beginning of what it sent, on one line, else what the ping itself says. */
export function buildFailureMessage({ exitCode }: PingSignal, body: string | null): string {
  const said = body?.replace(/\s+/g, ' ').trim() ?? ''
  if (said !== '') return [...said.slice(0, MAX_MESSAGE_LENGTH * 2)].slice(0, MAX_MESSAGE_LENGTH).join('')
  return exitCode === null ? 'the job reported a failure' : `the job ended with exit code ${exitCode}`
}

/** "no success within 1 hour, nor within 1 minute of grace" */
export function buildOverdueMessage({ interval, grace }: HeartbeatMonitor): string {
  const within = `no success within ${formatDuration((interval ?? 0) * 1_000)}`
  return grace ? `${within}, nor within ${formatDuration(grace * 1_000)} of grace` : within
}
