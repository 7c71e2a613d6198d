/** The monotonic clock in whole microseconds. Whole, so that phases add up to their total exactly. */
export function nowUs(): number {
  return Math.round(performance.now() * 1000)
}

/** Ms since 1970: the wall clock at the start of the process, carried forward by the monotonic clock. */
export function wallMs(): number {
  return performance.timeOrigin + performance.now()
}
