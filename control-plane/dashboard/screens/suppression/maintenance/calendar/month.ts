import { listPeriodsBetween, toSchedule, type WindowRecord } from '../window-periods.ts'
import { toZonedDay } from '../zoned-time.ts'

const DAY_MS = 86_400_000

/** A period on one day. `isFirst`: the day on which it begins. */
export type CalendarEntry = { window: WindowRecord; startsAt: Date; endsAt: Date; isFirst: boolean }

/** `day`: `2026-11-21`. `isOther`: of the month before or after. */
export type CalendarDay = { day: string; isOther: boolean; entries: CalendarEntry[] }

/** The month of an address (`2026-11`), or that of a day. */
export function readMonth(text: string | null, today: string): string {
  const month = /^\d{4}-(0[1-9]|1[0-2])$/.test(text ?? '') ? text! : today.slice(0, 7)
  return month
}

export function addMonths(month: string, count: number): string {
  const [year, number] = month.split('-').map(Number)
  return new Date(Date.UTC(year!, number! - 1 + count)).toISOString().slice(0, 7)
}

/** Of a window. A calendar of a window that begins every minute would show nothing else. */
const MAX_PERIODS_OF_DAY = 4
/** With fewer periods for each recurring window, none of them are computed. */
const MIN_SHARE = 10

/**
 * The weeks of a month, from Monday, with the periods of each day in a time zone. `most`: how many periods of recurring
 * windows are computed in all. `isCut`: some periods are left out.
 */
export function buildMonth(
  month: string,
  windows: readonly WindowRecord[],
  { timeZone, most }: { timeZone: string; most: number },
): { weeks: CalendarDay[][]; isCut: boolean } {
  const days = listDays(month)
  const first = new Date(Date.parse(`${days[0]}T00:00:00Z`) - DAY_MS)
  const last = new Date(Date.parse(`${days.at(-1)}T00:00:00Z`) + 2 * DAY_MS)
  const byDay = new Map<string, CalendarEntry[]>(days.map(day => [day, []]))
  const recurring = windows.filter(({ cron }) => cron !== null).length
  const share = Math.floor(most / Math.max(1, recurring))
  const limits = { from: first, to: last, ofDay: MAX_PERIODS_OF_DAY, most: share >= MIN_SHARE ? share : 0 }
  let isCut = false
  for (const window of windows) {
    const listed = listPeriodsBetween(toSchedule(window), limits)
    isCut ||= listed.isCut
    const created = new Date(window.created_at)
    for (const { startsAt, endsAt } of listed.periods) {
      // what was over before the window existed is not maintenance
      if (endsAt <= created) continue
      const begins = toZonedDay(startsAt, timeZone)
      for (const day of listDaysBetween(begins, toZonedDay(new Date(endsAt.getTime() - 1), timeZone)))
        byDay.get(day)?.push({ window, startsAt, endsAt, isFirst: day === begins })
    }
  }
  const cells = days.map(day => ({
    day,
    isOther: !day.startsWith(month),
    entries: byDay.get(day)!.sort((a, b) => a.startsAt.getTime() - b.startsAt.getTime()),
  }))
  const weeks = Array.from({ length: cells.length / 7 }, (_, week) => cells.slice(week * 7, week * 7 + 7))
  return { weeks, isCut }
}

/** The days of the weeks of a month. */
function listDays(month: string): string[] {
  const first = Date.parse(`${month}-01T00:00:00Z`)
  const next = Date.parse(`${addMonths(month, 1)}-01T00:00:00Z`)
  const lead = (new Date(first).getUTCDay() + 6) % 7
  const weeks = Math.ceil((lead + (next - first) / DAY_MS) / 7)
  return Array.from({ length: weeks * 7 }, (_, i) => toDay(first + (i - lead) * DAY_MS))
}

function listDaysBetween(first: string, last: string): string[] {
  const from = Date.parse(first)
  return Array.from({ length: (Date.parse(last) - from) / DAY_MS + 1 }, (_, i) => toDay(from + i * DAY_MS))
}

const toDay = (ms: number) => new Date(ms).toISOString().slice(0, 10)
