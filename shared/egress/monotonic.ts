/** Now in whole microseconds, by a clock that only goes forward. Whole, so that phases add up to their total exactly. */
export function nowUs(): number {
  return Math.round(performance.now() * 1000)
}

/** The wall clock in ms since 1970, as it was when this process began, carried on by the monotonic clock. */
export function wallMs(): number {
  return performance.timeOrigin + performance.now()
}
