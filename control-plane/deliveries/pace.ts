/** Requests of one event to one host: so many leave at once, the others one a second. */
export const BURST = 10
const EVERY_MS = 1_000

/** How many have left, and when the next one beyond the first ones may. */
export type Pace = { hasLeft: number; nextAt: Date }

export const NOTHING_LEFT: Pace = { hasLeft: 0, nextAt: new Date(0) }

/** When each request may leave, null for at once, and the pace after those that leave now. */
export type Planned = { waits: (Date | null)[]; pace: Pace }

export function planned(before: Pace, count: number, burst: number, now: Date): Planned {
  // later only if it was written down before PostgreSQL's clock was set back
  const latestMs = now.getTime() + EVERY_MS
  let pace = { ...before, nextAt: new Date(Math.min(before.nextAt.getTime(), latestMs)) }
  let waiting = 0
  const waits = Array.from({ length: count }, () => {
    if (pace.hasLeft < burst || pace.nextAt <= now) {
      pace = { hasLeft: pace.hasLeft + 1, nextAt: new Date(now.getTime() + EVERY_MS) }
      return null
    }
    return new Date(pace.nextAt.getTime() + EVERY_MS * waiting++)
  })
  return { waits, pace }
}

/** None leaves now: each is looked at again after the time that lies between two requests. */
export const allLater = (count: number, now: Date): Date[] =>
  Array.from({ length: count }, () => new Date(now.getTime() + EVERY_MS))
