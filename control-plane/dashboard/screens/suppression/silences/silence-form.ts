/** The form of a silence. Pure. */
import type { SilenceSettings } from '../../../../verdict/silences/schemas.ts'
import { parseZonedText, toZonedDay } from '../maintenance/zoned-time.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** How long a silence lasts. `time`: until a time that is chosen. `end`: the monitors are no longer silenced. */
type SilenceLength = '1h' | '4h' | 'tomorrow' | 'time' | 'end'

export const SILENCE_LENGTHS: readonly (readonly [SilenceLength, string])[] = [
  ['1h', '1 hour'],
  ['4h', '4 hours'],
  ['tomorrow', 'Until tomorrow, 8:00'],
  ['time', 'Until a time…'],
]

export type SilenceForm = {
  length: SilenceLength
  /** as the control writes it, such as `2026-11-21T08:00`, in the time zone of the person */
  time: string
  reason: string
}

export const EMPTY_SILENCE: SilenceForm = { length: '1h', time: '', reason: '' }

/**
 * The end and the reason that a form describes; its times are of `timeZone`. Null: no silence. Undefined: the form is
 * incomplete.
 */
export function readSilenceForm(
  form: SilenceForm,
  nowMs: number,
  timeZone: string,
): SilenceSettings | null | undefined {
  if (form.length === 'end') return null
  const until = computeEnd(form, nowMs, timeZone)
  if (until === null) return undefined
  const reason = form.reason.trim()
  return { until: until.toISOString(), reason: reason === '' ? null : reason }
}

/** Null without a time. */
function computeEnd({ length, time }: SilenceForm, nowMs: number, timeZone: string): Date | null {
  if (length === 'time') return parseZonedText(time, timeZone)
  if (length !== 'tomorrow') return new Date(nowMs + (length === '1h' ? 1 : 4) * HOUR_MS)
  const today = Date.parse(toZonedDay(new Date(nowMs), timeZone))
  const tomorrow = new Date(today + DAY_MS).toISOString().slice(0, 10)
  return parseZonedText(`${tomorrow}T08:00`, timeZone)
}
