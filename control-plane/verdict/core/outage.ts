import type { StatusTransition } from './types.ts'

/** Whether a transition came in an outage, which lasts from reaching down until reaching up (decisions 4.5). */
export function wasInOutage({ from, to, downSinceMs, atMs }: StatusTransition): boolean {
  if (from === 'down') return true
  return to === 'down' ? downSinceMs !== null && downSinceMs < atMs : downSinceMs !== null
}
