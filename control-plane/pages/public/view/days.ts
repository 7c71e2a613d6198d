import { buildTimeGrid, forEachCell, type MonitorStatusTime } from '../../../insight/analytics/uptime/status-time.ts'
import { computeUptimePercentage } from '../../../insight/analytics/uptime/uptime.ts'
import { pickWorstStatus } from '../../core/component-status.ts'
import type { DayView, DisplayStatus } from '../../core/types.ts'
import type { PageIncident } from './page-data.ts'

/** The number of days in a bar (docs/design/status-pages.md#bars). */
export const BAR_DAYS = 90
export const DAY_MS = 86_400_000

/** A UTC day of a bar: `2026-11-21`, and its elapsed part. */
export type BarDay = { date: string; startMs: number; endMs: number }

/** The days of a bar, oldest first; the last is the elapsed part of today. */
export function listBarDays(now: Date): BarDay[] {
  const grid = buildTimeGrid(now, DAY_MS, BAR_DAYS)
  return Array.from({ length: BAR_DAYS }, (_, i) => {
    const startMs = grid.startMs + i * DAY_MS
    const date = new Date(startMs).toISOString().slice(0, 10)
    return { date, startMs, endMs: Math.min(startMs + DAY_MS, now.getTime()) }
  })
}

/** How many incidents a day names; the first number with which the bars of a page have at most MAX_NAMED. */
const MAX_NAMED_PER_DAY = [10, 3, 1, 0] as const
const MAX_NAMED = 5_000

type NamedIncidents = { incidents: { id: string; title: string }[]; more: number }

type Seconds = Pick<DayView, 'upSeconds' | 'degradedSeconds' | 'downSeconds' | 'maintenanceSeconds' | 'unknownSeconds'>

/**
 * The bar of one monitor. Time before it was created, before its first verdict and while it was paused is unknown
 * (docs/design/status-pages.md#bars). `times` and `incidents` are those of the monitor.
 */
export function buildBar(
  times: readonly MonitorStatusTime[],
  incidents: readonly PageIncident[],
  days: readonly BarDay[],
): DayView[] {
  const grid = { startMs: days[0]!.startMs, stepMs: DAY_MS, count: days.length }
  const seconds = days.map(() => ({ upSeconds: 0, degradedSeconds: 0, downSeconds: 0, maintenanceSeconds: 0 }))
  for (const time of times) {
    const key = getSecondsKey(time)
    if (key !== null) forEachCell(time, grid, (i, share) => (seconds[i]![key] += share))
  }
  const affecting: NamedIncidents[] = days.map(() => ({ incidents: [], more: 0 }))
  for (const { id, title, startedAt, resolvedAt } of incidents) {
    const span = { from: startedAt, to: resolvedAt ?? new Date(days.at(-1)!.endMs), seconds: 0 }
    forEachCell(span, grid, i => {
      const day = affecting[i]!
      if (day.incidents.length < MAX_NAMED_PER_DAY[0]) day.incidents.push({ id, title })
      else day.more++
    })
  }
  return days.map((day, i) => buildDayView(day, seconds[i]!, affecting[i]!))
}

function getSecondsKey({ status, isMaintenance }: MonitorStatusTime): Exclude<keyof Seconds, 'unknownSeconds'> | null {
  if (isMaintenance) return 'maintenanceSeconds'
  return status && `${status}Seconds`
}

function buildDayView(
  day: BarDay,
  known: Omit<Seconds, 'unknownSeconds'>,
  { incidents, more }: NamedIncidents,
): DayView {
  const { upSeconds, degradedSeconds, downSeconds, maintenanceSeconds } = known
  const covered = upSeconds + degradedSeconds + downSeconds + maintenanceSeconds
  const unknownSeconds = Math.max(0, (day.endMs - day.startMs) / 1_000 - covered)
  return { date: day.date, status: pickDayStatus(known), ...known, unknownSeconds, incidents, ...withMore(more) }
}

const withMore = (moreIncidents: number) => (moreIncidents > 0 ? { moreIncidents } : {})

/** Bounds the bars of a page: all of them name the same number of incidents per day. Bars can occur twice. */
export function limitNamedIncidents(bars: readonly (readonly DayView[])[]): DayView[][] {
  const count = (max: number) =>
    bars.reduce((sum, bar) => sum + bar.reduce((n, { incidents }) => n + Math.min(incidents.length, max), 0), 0)
  const max = MAX_NAMED_PER_DAY.find(each => count(each) <= MAX_NAMED) ?? 0
  return bars.map(bar =>
    bar.map(day => {
      const unnamed = Math.max(0, day.incidents.length - max)
      if (unnamed === 0) return day
      return { ...day, incidents: day.incidents.slice(0, max), ...withMore((day.moreIncidents ?? 0) + unnamed) }
    }),
  )
}

/** The worst status of the day; without known time, `maintenance` or `unknown`. */
function pickDayStatus({
  upSeconds,
  degradedSeconds,
  downSeconds,
  maintenanceSeconds,
}: Omit<Seconds, 'unknownSeconds'>) {
  const found: DisplayStatus[] = []
  if (downSeconds > 0) found.push('outage')
  if (degradedSeconds > 0) found.push('degraded')
  if (upSeconds > 0) found.push('operational')
  if (found.length === 0 && maintenanceSeconds > 0) found.push('maintenance')
  return pickWorstStatus(found)
}

/** Up and degraded time divided by known time, in percent with up to 4 decimals; null when no time is known. */
export function computeBarUptime(days: readonly DayView[]): number | null {
  const sum = (key: keyof Seconds) => days.reduce((total, day) => total + day[key], 0)
  return computeUptimePercentage({
    up: sum('upSeconds'),
    degraded: sum('degradedSeconds'),
    down: sum('downSeconds'),
    unknown: 0,
  })
}
