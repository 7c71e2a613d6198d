import { computeUptimePercentage } from '../../../insight/analytics/uptime/uptime.ts'
import { pickWorstStatus } from '../../core/component-status.ts'
import type { DayView, DisplayStatus } from '../../core/types.ts'
import type { MonitorStatusTime, PageIncident } from './page-data.ts'

/** How far bars go back (decisions 7.2). */
export const BAR_DAYS = 90
const DAY_MS = 86_400_000

/** A day of a bar (UTC): `2026-11-21`, and its part that is over. */
export type BarDay = { date: string; startMs: number; endMs: number }

/** The days of a bar, oldest first; the last one is today so far. */
export function listBarDays(now: Date): BarDay[] {
  const today = Math.floor(now.getTime() / DAY_MS)
  return Array.from({ length: BAR_DAYS }, (_, i) => {
    const startMs = (today - BAR_DAYS + 1 + i) * DAY_MS
    const date = new Date(startMs).toISOString().slice(0, 10)
    return { date, startMs, endMs: Math.min(startMs + DAY_MS, now.getTime()) }
  })
}

type Seconds = Pick<DayView, 'upSeconds' | 'degradedSeconds' | 'downSeconds' | 'maintenanceSeconds' | 'unknownSeconds'>

/**
 * The bar of one monitor. What was not watched, before it was made, before its first verdict, while it was paused, is
 * unknown and never guessed (decisions 7.5). `times` and `incidents` are those of the monitor.
 */
export function buildBar(
  times: readonly MonitorStatusTime[],
  incidents: readonly PageIncident[],
  days: readonly BarDay[],
): DayView[] {
  const seconds = days.map(() => ({ upSeconds: 0, degradedSeconds: 0, downSeconds: 0, maintenanceSeconds: 0 }))
  for (const time of times) {
    const key = getSecondsKey(time)
    if (key !== null) forEachDay(time, days, (i, share) => (seconds[i]![key] += share))
  }
  const touching: { id: string; title: string }[][] = days.map(() => [])
  for (const { id, title, startedAt, resolvedAt } of incidents) {
    const span = { from: startedAt, to: resolvedAt ?? new Date(days.at(-1)!.endMs), seconds: 0 }
    forEachDay(span, days, i => touching[i]!.push({ id, title }))
  }
  return days.map((day, i) => buildDayView(day, seconds[i]!, touching[i]!))
}

function getSecondsKey({ status, isMaintenance }: MonitorStatusTime): Exclude<keyof Seconds, 'unknownSeconds'> | null {
  if (isMaintenance) return 'maintenanceSeconds'
  return status && `${status}Seconds`
}

type Span = Pick<MonitorStatusTime, 'from' | 'to' | 'seconds'>

/** Calls `visit` with the place of each day that a span touches, and its share of the span's seconds. */
function forEachDay(
  { from, to, seconds }: Span,
  days: readonly BarDay[],
  visit: (i: number, share: number) => void,
): void {
  const [fromMs, toMs, beginMs] = [from.getTime(), to.getTime(), days[0]!.startMs]
  const first = Math.floor((fromMs - beginMs) / DAY_MS)
  const last = Math.min(days.length - 1, Math.floor((Math.max(toMs - 1, fromMs) - beginMs) / DAY_MS))
  if (first === last && first >= 0) {
    visit(first, seconds)
    return
  }
  for (let i = Math.max(first, 0); i <= last; i++) {
    const { startMs } = days[i]!
    visit(i, (Math.min(toMs, startMs + DAY_MS) - Math.max(fromMs, startMs)) / 1_000)
  }
}

function buildDayView(day: BarDay, known: Omit<Seconds, 'unknownSeconds'>, incidents: DayView['incidents']): DayView {
  const { upSeconds, degradedSeconds, downSeconds, maintenanceSeconds } = known
  const watched = upSeconds + degradedSeconds + downSeconds + maintenanceSeconds
  const unknownSeconds = Math.max(0, (day.endMs - day.startMs) / 1_000 - watched)
  return { date: day.date, status: pickDayStatus(known), ...known, unknownSeconds, incidents }
}

/** The worst that the monitor was; where nothing was watched, what it was instead. */
function pickDayStatus({
  upSeconds,
  degradedSeconds,
  downSeconds,
  maintenanceSeconds,
}: Omit<Seconds, 'unknownSeconds'>) {
  const met: DisplayStatus[] = []
  if (downSeconds > 0) met.push('outage')
  if (degradedSeconds > 0) met.push('degraded')
  if (upSeconds > 0) met.push('operational')
  if (met.length === 0 && maintenanceSeconds > 0) met.push('maintenance')
  return pickWorstStatus(met)
}

/** Up and degraded over all time that was watched, in percent with up to 4 decimals; null when nothing was. */
export function computeBarUptime(days: readonly DayView[]): number | null {
  const sum = (key: keyof Seconds) => days.reduce((total, day) => total + day[key], 0)
  return computeUptimePercentage({
    up: sum('upSeconds'),
    degraded: sum('degradedSeconds'),
    down: sum('downSeconds'),
    unknown: 0,
  })
}
