import type { PingSignal } from '../types.ts'

const TOKEN = /^[0-9A-Za-z]{24}$/

/** False for a text that cannot be a ping token, so that it is not looked up. */
export const isPingToken = (text: string) => TOKEN.test(text)

/**
 * Parses the text after the token of a ping URL: nothing for a success, `start`, `fail`, `log`, or an exit code from 0
 * to 255, of which 0 is a success. Null for anything else.
 */
export function parseSignal(text: string | undefined): PingSignal | null {
  if (text === undefined) return { kind: 'success', exitCode: null }
  if (text === 'start' || text === 'fail' || text === 'log') return { kind: text, exitCode: null }
  if (!/^\d{1,3}$/.test(text) || Number(text) > 255) return null
  const exitCode = Number(text)
  return { kind: exitCode === 0 ? 'success' : 'fail', exitCode }
}
