import type { StatusTransition } from './types.ts'

/** Whether a transition happened during an outage, which lasts from `down` until `up`. */
export function wasInOutage({ from, to, downSinceMs, atMs }: StatusTransition): boolean {
  if (from === 'down') return true
  return to === 'down' ? downSinceMs !== null && downSinceMs < atMs : downSinceMs !== null
}
