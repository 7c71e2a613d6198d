import { formatDuration } from '../../alerting/events/duration.ts'
import type { HeartbeatMonitor, PingSignal } from './types.ts'

/** How much of a body is kept. */
export const MAX_PING_BODY_BYTES = 10_240
const MAX_MESSAGE_LENGTH = 200

/** A body as text that PostgreSQL can store, cut at 10 kB between two characters; null if it is empty. */
export function decodePingBody(bytes: Buffer): string | null {
  const kept = new TextDecoder().decode(bytes.subarray(0, MAX_PING_BODY_BYTES), { stream: true })
  return kept === '' ? null : kept.replaceAll('\0', '\ufffd')
}

/** Why a job failed: the beginning of its body on one line, otherwise the exit code. */
export function buildFailureMessage({ exitCode }: PingSignal, body: string | null): string {
  const text = body?.replace(/\s+/g, ' ').trim() ?? ''
  if (text !== '') return [...text.slice(0, MAX_MESSAGE_LENGTH * 2)].slice(0, MAX_MESSAGE_LENGTH).join('')
  return exitCode === null ? 'the job reported a failure' : `the job ended with exit code ${exitCode}`
}

/** "no success within 1 hour and a grace period of 1 minute" */
export function buildOverdueMessage({ interval, grace }: HeartbeatMonitor): string {
  const within = `no success within ${formatDuration((interval ?? 0) * 1_000)}`
  return grace ? `${within} and a grace period of ${formatDuration(grace * 1_000)}` : within
}
