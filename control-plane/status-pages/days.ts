import { uptimePercentageOf } from '../analytics/uptime.ts'
import { worstOf } from './component-status.ts'
import type { DayTime, IncidentFact } from './facts.ts'
import { groupsOf } from './groups-of.ts'
import type { DayView, ShownStatus } from './types.ts'

/** How far bars go back (decisions 7.2). */
export const DAYS = 90
const DAY_MS = 86_400_000

/** The days (UTC) of a bar, oldest first: `2026-11-21` is the last one on that day. */
export function datesUntil(now: Date): string[] {
  const today = Math.floor(now.getTime() / DAY_MS)
  return Array.from({ length: DAYS }, (_, i) => new Date((today - DAYS + 1 + i) * DAY_MS).toISOString().slice(0, 10))
}

/**
 * The bar of one monitor. What was not watched, before it was made, before its first verdict, while it was paused, is
 * unknown and never guessed (decisions 7.5). `times` and `incidents` are those of the monitor.
 */
export function daysOf(times: readonly DayTime[], incidents: readonly IncidentFact[], now: Date): DayView[] {
  const timesOf = groupsOf(times, ({ date }) => date)
  return datesUntil(now).map(date => {
    const startMs = Date.parse(date)
    const endMs = Math.min(startMs + DAY_MS, now.getTime())
    const seconds = secondsOf(timesOf.get(date) ?? [], (endMs - startMs) / 1_000)
    const touching = incidents.filter(({ startedAt, resolvedAt }) => {
      return startedAt.getTime() < endMs && (resolvedAt === null || resolvedAt.getTime() >= startMs)
    })
    return {
      date,
      status: statusOfDay(seconds),
      ...seconds,
      incidents: touching.map(({ id, title }) => ({ id, title })),
    }
  })
}

type Seconds = Pick<DayView, 'upSeconds' | 'degradedSeconds' | 'downSeconds' | 'maintenanceSeconds' | 'unknownSeconds'>

function secondsOf(times: readonly DayTime[], length: number): Seconds {
  const sum = (status: DayTime['status']) =>
    times.reduce((total, time) => total + (time.status === status ? time.seconds : 0), 0)
  const watched = { upSeconds: sum('up'), degradedSeconds: sum('degraded'), downSeconds: sum('down') }
  const maintenanceSeconds = times.reduce((total, time) => total + time.maintenanceSeconds, 0)
  const known = watched.upSeconds + watched.degradedSeconds + watched.downSeconds + maintenanceSeconds
  return { ...watched, maintenanceSeconds, unknownSeconds: Math.max(0, length - known) }
}

/** The worst that the monitor was; where nothing was watched, what it was instead. */
function statusOfDay({ upSeconds, degradedSeconds, downSeconds, maintenanceSeconds }: Seconds): ShownStatus {
  const met: ShownStatus[] = []
  if (downSeconds > 0) met.push('outage')
  if (degradedSeconds > 0) met.push('degraded')
  if (upSeconds > 0) met.push('operational')
  if (met.length === 0 && maintenanceSeconds > 0) met.push('maintenance')
  return worstOf(met)
}

/** Up and degraded over all time that was watched, in percent with up to 4 decimals; null when nothing was. */
export function uptimeOf(days: readonly DayView[]): number | null {
  const sum = (key: keyof Seconds) => days.reduce((total, day) => total + day[key], 0)
  return uptimePercentageOf({
    up: sum('upSeconds'),
    degraded: sum('degradedSeconds'),
    down: sum('downSeconds'),
    unknown: 0,
  })
}
