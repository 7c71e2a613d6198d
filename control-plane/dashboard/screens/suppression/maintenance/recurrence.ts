/** How often a window recurs, as choices for a cron expression. Pure. */
type Repeat = 'daily' | 'weekly' | 'monthly' | 'cron'

/** `time`: `02:30`. `weekday`: 0 (Sunday) to 6. `day`: of the month. `cron`: for `cron` only. */
export type Recurrence = { repeat: Repeat; time: string; weekday: string; day: string; cron: string }

export const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const

export const REPEATS: readonly (readonly [Repeat, string])[] = [
  ['daily', 'Every day'],
  ['weekly', 'Every week'],
  ['monthly', 'Every month'],
  ['cron', 'Cron expression'],
]

export const EMPTY_RECURRENCE: Recurrence = { repeat: 'weekly', time: '02:00', weekday: '0', day: '1', cron: '' }

/** The cron expression of a choice. A time that is not complete makes one that the API refuses. */
export function toCron({ repeat, time, weekday, day, cron }: Recurrence): string {
  if (repeat === 'cron') return cron.trim().replace(/\s+/g, ' ')
  const [hour = '', minute = ''] = time.split(':').map(part => String(Number(part)))
  const start = `${minute} ${hour}`
  if (repeat === 'daily') return `${start} * * *`
  return repeat === 'weekly' ? `${start} * * ${weekday}` : `${start} ${day} * *`
}

/** The choice for a cron expression; the expression itself when there is none. */
export function parseCron(cron: string): Recurrence {
  const base = { ...EMPTY_RECURRENCE, cron }
  const [, minute, hour, day, weekday] = /^(\d{1,2}) (\d{1,2}) (\*|\d{1,2}) \* (\*|[0-6])$/.exec(cron) ?? []
  if (minute === undefined || (day !== '*' && weekday !== '*')) return { ...base, repeat: 'cron' }
  const time = `${hour!.padStart(2, '0')}:${minute.padStart(2, '0')}`
  if (day !== '*') return { ...base, repeat: 'monthly', time, day: day! }
  return weekday === '*' ? { ...base, repeat: 'daily', time } : { ...base, repeat: 'weekly', time, weekday: weekday! }
}

/** `every day at 02:00`, `every Sunday at 02:00`, `on day 1 of each month at 02:00`, or the expression. */
export function describeCron(cron: string): string {
  const { repeat, time, weekday, day } = parseCron(cron)
  if (repeat === 'cron') return `cron ${cron}`
  const days = {
    daily: 'every day',
    weekly: `every ${WEEKDAYS[Number(weekday)]}`,
    monthly: `on day ${day} of each month`,
  }
  return `${days[repeat]} at ${time}`
}
