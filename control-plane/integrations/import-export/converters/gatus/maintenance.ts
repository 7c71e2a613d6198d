import type { WindowEntry } from '../../file/project-file.ts'
import { LEFT_OUT } from '../../import/import-report.ts'
import { isRecord, toText } from '../foreign-file.ts'
import { parseDurationMs } from './duration.ts'

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/** Converts `{ start: "23:00", duration: "1h", every: [Monday], timezone }`; null when it is disabled or invalid. */
export function toWindow(
  source: unknown,
  title: string,
  monitors: string[],
  addWarning: (message: string) => void,
): WindowEntry | null {
  if (!isRecord(source) || source.enabled === false || monitors.length === 0) return null
  const [, hour, minute] = /^(\d{1,2}):(\d\d)$/.exec(toText(source.start) ?? '') ?? []
  const durationMinutes = Math.round((parseDurationMs(source.duration) ?? 0) / 60_000)
  const every = Array.isArray(source.every) ? source.every.map(day => DAYS.indexOf(String(day))) : []
  if (hour === undefined || durationMinutes < 1 || every.includes(-1)) {
    addWarning(`invalid maintenance${LEFT_OUT}`)
    return null
  }
  return {
    title,
    cron: `${Number(minute)} ${Number(hour)} * * ${every.length === 0 ? '*' : [...new Set(every)].sort().join(',')}`,
    duration_minutes: durationMinutes,
    time_zone: toText(source.timezone) ?? 'UTC',
    monitors,
  }
}
