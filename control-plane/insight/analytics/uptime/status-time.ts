/** The time of monitors in each status, divided into cells of equal length. Pure. */

/**
 * A span in which a monitor was in one status. `status` null: paused, or no verdict yet. All spans within one cell of the
 * grid may be combined into one; then `seconds` is their sum.
 */
export type MonitorStatusTime = {
  monitorId: string
  status: 'up' | 'degraded' | 'down' | null
  isMaintenance: boolean
  from: Date
  to: Date
  seconds: number
}

/** Consecutive cells of `stepMs`, from `startMs` (ms since 1970). */
export type TimeGrid = { startMs: number; stepMs: number; count: number }

/** The `count` cells of the grid whose last one contains `now`. Cells begin at multiples of `stepMs`. */
export function buildTimeGrid(now: Date, stepMs: number, count: number): TimeGrid {
  return { startMs: (Math.floor(now.getTime() / stepMs) - count + 1) * stepMs, stepMs, count }
}

/** Calls `visit` with the index of each cell that a span overlaps, and the span's seconds in that cell. */
export function forEachCell(
  { from, to, seconds }: Pick<MonitorStatusTime, 'from' | 'to' | 'seconds'>,
  { startMs, stepMs, count }: TimeGrid,
  visit: (index: number, seconds: number) => void,
): void {
  const [fromMs, toMs] = [from.getTime(), to.getTime()]
  const first = Math.floor((fromMs - startMs) / stepMs)
  const last = Math.min(count - 1, Math.floor((Math.max(toMs - 1, fromMs) - startMs) / stepMs))
  if (first === last && first >= 0) {
    visit(first, seconds)
    return
  }
  for (let i = Math.max(first, 0); i <= last; i++) {
    const cellMs = startMs + i * stepMs
    visit(i, (Math.min(toMs, cellMs + stepMs) - Math.max(fromMs, cellMs)) / 1_000)
  }
}
