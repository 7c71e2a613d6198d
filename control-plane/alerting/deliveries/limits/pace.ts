/** How many requests of one event to one host are sent immediately. The others follow one a second. */
export const DEFAULT_BURST = 10
const REQUEST_INTERVAL_MS = 1_000

/** How many requests were sent, and when the next one beyond the burst may be sent. */
export type EventPace = { hasLeft: number; nextAt: Date }

export const INITIAL_PACE: EventPace = { hasLeft: 0, nextAt: new Date(0) }

/** When each request may be sent (null: now), and the pace after those that are sent now. */
export type PacePlan = { waits: (Date | null)[]; pace: EventPace }

export function planPace(before: EventPace, count: number, burst: number, now: Date): PacePlan {
  // a later time was written before PostgreSQL's clock was set back
  const latestMs = now.getTime() + REQUEST_INTERVAL_MS
  let pace = { ...before, nextAt: new Date(Math.min(before.nextAt.getTime(), latestMs)) }
  let waiting = 0
  const waits = Array.from({ length: count }, () => {
    if (pace.hasLeft < burst || pace.nextAt <= now) {
      pace = { hasLeft: pace.hasLeft + 1, nextAt: new Date(now.getTime() + REQUEST_INTERVAL_MS) }
      return null
    }
    return new Date(pace.nextAt.getTime() + REQUEST_INTERVAL_MS * waiting++)
  })
  return { waits, pace }
}

/** Defers all requests by the interval between two requests. */
export const deferAll = (count: number, now: Date): Date[] =>
  Array.from({ length: count }, () => new Date(now.getTime() + REQUEST_INTERVAL_MS))
