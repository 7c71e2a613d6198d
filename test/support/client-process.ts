import type { Socket } from 'node:net'

/** The environment of a program whose connections to this machine identify its process (Linux). */
export const IDENTIFIED = { NODE_OPTIONS: `--import=${new URL('client-process.mjs', import.meta.url).href}` }

/** The id of the process at the other end of a connection; null when the process was not started with `IDENTIFIED`. */
export function clientProcess({ remoteAddress = '' }: Socket): number | null {
  const [, high, middle, low] = remoteAddress.replace('::ffff:', '').split('.').map(Number)
  return high === undefined || high === 0 ? null : ((high - 1) << 16) + (middle! << 8) + low!
}
