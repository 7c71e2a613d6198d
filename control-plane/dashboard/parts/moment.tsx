import { formatAgo, formatTime } from '../core/format.ts'
import { useFrame } from '../core/frame-context.ts'

/** A time in the time zone of the browser; in UTC until the browser has taken over. */
export function Moment({ at, part = 'both' }: { at: string; part?: 'time' | 'date' | 'both' }) {
  const { timeZone } = useFrame()
  const zone = timeZone === 'UTC' ? ' UTC' : ''
  return (
    <time dateTime={at} title={formatTime(at, timeZone) + zone}>
      {formatTime(at, timeZone, part)}
      {part !== 'date' && zone}
    </time>
  )
}

/** How long ago a time was; the time itself is its title. */
export function Ago({ at }: { at: string }) {
  const { nowMs, timeZone } = useFrame()
  return (
    <time dateTime={at} title={formatTime(at, timeZone)}>
      {formatAgo(nowMs - Date.parse(at))}
    </time>
  )
}
