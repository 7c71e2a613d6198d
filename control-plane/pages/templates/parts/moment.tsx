import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { formatLongDate, formatShortDateTime, formatTime, getUtcDay } from '../dates.ts'

/** Whether times are written as machines do, and stay so. */
export const IsoTimes = createContext(false)

/**
 * An instant, in UTC; the browser module writes it in the reader's own zone. `since`: the beginning of a span that it
 * ends; on the same day its time is enough.
 */
export function Moment({ at, since }: { at: string; since?: string }) {
  if (useContext(IsoTimes)) {
    return (
      <time dateTime={at} data-iso>
        {at.replace(/\.\d+Z$/, 'Z')}
      </time>
    )
  }
  const isShort = since !== undefined && getUtcDay(since) === getUtcDay(at)
  return (
    <time dateTime={at} data-since={since}>
      {isShort ? formatTime(at) : formatShortDateTime(at)}
    </time>
  )
}

/** A day (UTC), which is the same one in every zone. */
export const Day = ({ date }: { date: string }) => (
  <time dateTime={date} data-day>
    {useContext(IsoTimes) ? date : formatLongDate(date)}
  </time>
)
