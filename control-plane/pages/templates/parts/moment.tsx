import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { formatLongDate, formatShortDateTime, formatTime, getUtcDay } from '../dates.ts'

/** Whether times are ISO 8601 and are not localized. */
export const IsoTimes = createContext(false)

/**
 * An instant in UTC; the browser module converts it to the reader's time zone. `since`: the start of a span that ends
 * at this instant; on the same day only the time is shown.
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

/** A UTC day, the same in every time zone. */
export const Day = ({ date }: { date: string }) => (
  <time dateTime={date} data-day>
    {useContext(IsoTimes) ? date : formatLongDate(date)}
  </time>
)
