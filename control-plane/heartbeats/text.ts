import { humanDuration } from '../events/duration.ts'
import type { HeartbeatMonitor, Signal } from './types.ts'

/** How much of a body is kept (decisions 3.7). */
export const BODY_KEPT_BYTES = 10_240
const MESSAGE_LENGTH = 200

/** What a job sent as text that PostgreSQL can keep, cut at 10 kB between two characters; null when there is nothing. */
export function keptBody(bytes: Buffer): string | null {
  const kept = new TextDecoder().decode(bytes.subarray(0, BODY_KEPT_BYTES), { stream: true })
  return kept === '' ? null : kept.replaceAll('\0', '\ufffd')
}

/** Why a job failed: the beginning of what it sent, on one line, else what the ping itself says. */
export function failureMessage({ exitCode }: Signal, body: string | null): string {
  const said = body?.replace(/\s+/g, ' ').trim() ?? ''
  if (said !== '') return [...said.slice(0, MESSAGE_LENGTH * 2)].slice(0, MESSAGE_LENGTH).join('')
  return exitCode === null ? 'the job reported a failure' : `the job ended with exit code ${exitCode}`
}

/** "no success within 1 hour, nor within 1 minute of grace" */
export function overdueMessage({ interval, grace }: HeartbeatMonitor): string {
  const within = `no success within ${humanDuration((interval ?? 0) * 1_000)}`
  return grace ? `${within}, nor within ${humanDuration(grace * 1_000)} of grace` : within
}
