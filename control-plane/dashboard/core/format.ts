const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** `38 s`, `4 min 10 s`, `2 h 5 min`, `3 d 4 h`: the two largest units. */
export function formatDuration(ms: number): string {
  const units = [
    { ms: DAY, name: 'd' },
    { ms: HOUR, name: 'h' },
    { ms: MINUTE, name: 'min' },
    { ms: SECOND, name: 's' },
  ]
  const rounded = Math.max(0, Math.round(ms / SECOND) * SECOND)
  const first = units.findIndex(unit => rounded >= unit.ms)
  if (first === -1) return '0 s'
  const large = units[first]!
  const small = units[first + 1]
  const count = Math.floor(rounded / large.ms)
  const rest = small ? Math.floor((rounded % large.ms) / small.ms) : 0
  return `${count} ${large.name}${rest > 0 ? ` ${rest} ${small!.name}` : ''}`
}

/** `just now`, `4 min ago`, `2 h ago`, `3 d ago`: the largest unit. */
export function formatAgo(ms: number): string {
  if (ms < 10 * SECOND) return 'just now'
  return `${formatDuration(ms).split(' ').slice(0, 2).join(' ')} ago`
}

/** `812 ms`, `1.25 s`, `30 s` */
export function formatMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  return `${Number((ms / 1_000).toFixed(ms < 10_000 ? 2 : 1))} s`
}

/** `99.98 %`, from a percentage. Never rounds up to 100 %. */
export function formatPercent(percentage: number): string {
  const rounded = Math.floor(percentage * 100 + 1e-6) / 100
  return `${rounded === 100 ? '100' : rounded.toFixed(2)} %`
}

const numberFormat = new Intl.NumberFormat('en')

/** `10,000`. `toLocaleString` takes 15 times longer in Chromium. */
export const formatNumber = (count: number): string => numberFormat.format(count)

/** `1 monitor`, `2 monitors`, `10,000 monitors` */
export const formatCount = (count: number, noun: string): string =>
  `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`

type TimePart = 'time' | 'date' | 'both'

/** `14:02:07`, `21 Nov 2026`, or `21 Nov 2026, 14:02:07`, in the given time zone. */
export function formatTime(at: string | number, timeZone: string, part: TimePart = 'both'): string {
  return getTimeFormat(timeZone, part).format(new Date(at))
}

/** Making a format takes a hundred times as long as using it. */
const timeFormats = new Map<string, Intl.DateTimeFormat>()
const MAX_TIME_FORMATS = 20

function getTimeFormat(timeZone: string, part: TimePart): Intl.DateTimeFormat {
  const key = `${part} ${timeZone}`
  const there = timeFormats.get(key)
  if (there) return there
  const time = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const
  const date = { day: 'numeric', month: 'short', year: 'numeric' } as const
  const options = { ...(part !== 'date' && time), ...(part !== 'time' && date), timeZone }
  const made = new Intl.DateTimeFormat('en-GB', options)
  if (timeFormats.size === MAX_TIME_FORMATS) timeFormats.clear()
  timeFormats.set(key, made)
  return made
}
