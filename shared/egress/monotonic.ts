/** Now in whole microseconds, by a clock that only goes forward. Whole, so that phases add up to their total exactly. */
export function nowUs(): number {
  return Math.round(performance.now() * 1000)
}
