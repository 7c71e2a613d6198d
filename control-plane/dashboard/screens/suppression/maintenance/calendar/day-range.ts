import type { MaintenancePeriod } from '../../../../../verdict/maintenance/schedule.ts'
import { MAX_WINDOW_MINUTES } from '../../../../../verdict/maintenance/schedule-validation.ts'
import { formatCount } from '../../../../core/format.ts'
import { EMPTY_RECURRENCE } from '../recurrence.ts'
import { proposeTimesFromNow } from '../window-form.ts'
import { parseZonedText } from '../zoned-time.ts'

/** Days such as `2026-11-21`, both included. */
export type Days = { first: string; last: string }

/** From the day at which choosing began to the day that was reached. */
export type DayRange = { anchor: string; reached: string }

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const SINGLE_DAY_MS = 2 * 3_600_000
const MAX_DAYS = MAX_WINDOW_MINUTES / (24 * 60)

const addDays = (day: string, count: number): string =>
  new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10)

const earlier = (a: string, b: string) => (a < b ? a : b)
const later = (a: string, b: string) => (a > b ? a : b)

/**
 * The days of a window: none that is over, and no more than a window may have. `head`: the end that moves. `isLimited`: more
 * days were chosen than a window may have.
 */
export function limitDays({ anchor, reached }: DayRange, today: string): Days & { head: string; isLimited: boolean } {
  const start = later(anchor, today)
  const wanted = later(reached, today)
  const head = later(addDays(start, 1 - MAX_DAYS), earlier(addDays(start, MAX_DAYS - 1), wanted))
  return { first: earlier(start, head), last: later(start, head), head, isLimited: head !== wanted }
}

export const hasDay = (days: Days | null, day: string): boolean =>
  days !== null && day >= days.first && day <= days.last

const STEPS: Record<string, number | undefined> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }

/** The day to which a key moves from another; null for other keys. `days`: those that can be reached, in order. */
export function moveDay(day: string, key: string, days: readonly string[]): string | null {
  const weekday = (new Date(day).getUTCDay() + 6) % 7
  const step = key === 'Home' ? -weekday : key === 'End' ? 6 - weekday : STEPS[key]
  if (step === undefined) return null
  const target = addDays(day, step)
  if (days.includes(target)) return target
  return key === 'Home' ? (days[0] ?? day) : day
}

/**
 * The times that a new window has for days of the calendar: from the begin of the first day to the end of the last, seven times
 * 24 hours at most. A single day proposes two hours, at night or, when it is today, from the next hour. Nothing begins before now.
 */
export function proposeTimes({ first, last }: Days, nowMs: number, timeZone: string): MaintenancePeriod {
  const fromNow = proposeTimesFromNow(nowMs)
  const toMs = (day: string, clock: string) => parseZonedText(`${day}T${clock}`, timeZone)!.getTime()
  const isPast = toMs(first, '00:00') < nowMs
  if (first === last) {
    if (isPast) return fromNow
    const startMs = toMs(first, EMPTY_RECURRENCE.time)
    return { startsAt: new Date(startMs), endsAt: new Date(startMs + SINGLE_DAY_MS) }
  }
  const startMs = isPast ? fromNow.startsAt.getTime() : toMs(first, '00:00')
  const endMs = Math.min(toMs(addDays(last, 1), '00:00'), startMs + MAX_WINDOW_MINUTES * MINUTE_MS)
  return { startsAt: new Date(startMs), endsAt: new Date(endMs) }
}

export function describeDays({ first, last }: Days, isLimited: boolean): string {
  const count = (Date.parse(last) - Date.parse(first)) / DAY_MS + 1
  const days =
    count === 1 ? formatDay(first) : `${formatDay(first)} to ${formatDay(last)}, ${formatCount(count, 'day')}`
  return isLimited ? `${days}. A window lasts at most ${MAX_DAYS} days.` : `${days}.`
}

/** `Sat 21 Nov` */
export const formatDay = (day: string): string =>
  new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    new Date(day),
  )
