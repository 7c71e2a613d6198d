/** The time of a monitor in each status. Pure. */
import type { MonitorStatusTime } from './status-time.ts'

export type UptimeStatus = 'up' | 'degraded' | 'down' | 'unknown'
/** A change of status; `status` null: paused, or not known yet. */
export type UptimeChange = { at: Date; status: 'up' | 'degraded' | 'down' | null }
/** `isMaintenance`: in a maintenance window, see maintenance-intervals.ts. */
export type UptimeInterval = { status: UptimeStatus; from: Date; to: Date; isMaintenance: boolean }

/**
 * The intervals between `from` and `to`, without gaps, oldest first. `before`: the status at `from` (null: not known).
 * `changes` are between `from` and `to`, in order. Equal neighbours are merged.
 */
export function* buildIntervals(
  before: UptimeChange['status'],
  changes: readonly UptimeChange[],
  from: Date,
  to: Date,
): Generator<UptimeInterval> {
  let open: UptimeInterval = { status: before ?? 'unknown', from, to, isMaintenance: false }
  for (const change of changes) {
    const status = change.status ?? 'unknown'
    if (status === open.status) continue
    if (change.at > open.from) yield { ...open, to: change.at }
    open = { status, from: change.at, to, isMaintenance: false }
  }
  if (open.to > open.from) yield open
}

export type Uptime = {
  /** outside maintenance */
  seconds: Record<UptimeStatus, number>
  maintenanceSeconds: number
  /**
   * 0-100 with up to 4 decimals, cut, so that 100 means no downtime at all; null when no time is known. Degraded counts as up;
   * unknown time is not counted.
   */
  uptimePercentage: number | null
}

/** `rest`: time after the intervals, already added up. */
export function computeUptime(
  intervals: Iterable<UptimeInterval>,
  rest: readonly Pick<MonitorStatusTime, 'status' | 'isMaintenance' | 'seconds'>[] = [],
): Uptime {
  const seconds: Record<UptimeStatus, number> = { up: 0, degraded: 0, down: 0, unknown: 0 }
  let maintenanceSeconds = 0
  const add = (status: UptimeStatus, isMaintenance: boolean, length: number) => {
    if (isMaintenance) maintenanceSeconds += length
    else seconds[status] += length
  }
  for (const { status, from, to, isMaintenance } of intervals)
    add(status, isMaintenance, (to.getTime() - from.getTime()) / 1_000)
  for (const time of rest) add(time.status ?? 'unknown', time.isMaintenance, time.seconds)
  return { seconds, maintenanceSeconds, uptimePercentage: computeUptimePercentage(seconds) }
}

/** See `Uptime`. */
export function computeUptimePercentage({ up, degraded, down }: Uptime['seconds']): number | null {
  const good = up + degraded
  const known = good + down
  if (known === 0) return null
  if (down === 0) return 100
  // the addition: a quotient such as 0.999 can be a little less in binary
  return Math.min(99.9999, Math.floor((good / known) * 1_000_000 + 1e-6) / 10_000)
}
