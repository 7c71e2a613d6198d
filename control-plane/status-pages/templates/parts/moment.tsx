import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { momentText } from '../../calendar.ts'

/** Whether times are written as machines do, and stay so. */
export const IsoTimes = createContext(false)

/** An instant, in UTC; the browser module writes it in the reader's own zone. */
export function Moment({ at }: { at: string }) {
  return useContext(IsoTimes) ? (
    <time dateTime={at} data-iso>
      {at.replace(/\.\d+Z$/, 'Z')}
    </time>
  ) : (
    <time dateTime={at}>{momentText(at)}</time>
  )
}
