/** Ranges of answers that are computed from single checks, in steps (docs/design/history.md#steps). Pure. */
import { Type } from 'typebox'
import { validationError } from '../../../foundation/web/server/errors.ts'
import { stringEnum } from '../../../foundation/web/validation/schemas.ts'
import type { TimeRange } from '../uptime/time-range.ts'

const DAY_MS = 86_400_000
/** How long single checks are kept. */
export const RETENTION_DAYS = 90

/** The length of each step, and the longest range of an answer that is computed from single checks. */
const STEPS = {
  '1h': { seconds: 3_600, maxDays: 31 },
  '5m': { seconds: 300, maxDays: 3 },
} as const
const STEP_NAMES = Object.keys(STEPS) as (keyof typeof STEPS)[]
type LatencyStep = keyof typeof STEPS

const DateTime = Type.String({ format: 'date-time' })

/** The query properties of ranges in steps. */
export const stepProperties = {
  from: Type.Optional({ ...DateTime, description: 'Defaults to 24 hours before `to`.' }),
  step: Type.Optional({
    ...stringEnum(STEP_NAMES, { default: '1h' }),
    description: 'The length of a step. `5m` covers at most 3 days of the last 90.',
  }),
}

/** Whole steps, in seconds since 1970. `to` is exclusive. */
export type StepRange = { from: number; to: number; step: number }

/** All whole steps that overlap a range. */
export function alignToSteps({ from, to }: TimeRange, step: LatencyStep): StepRange {
  const { seconds } = STEPS[step]
  const stepMs = seconds * 1_000
  const first = Math.floor(from.getTime() / stepMs) * seconds
  // the end of the range is exclusive
  const last = Math.floor((to.getTime() - 1) / stepMs) * seconds
  return { from: first, to: last + seconds, step: seconds }
}

/** Throws 400 when single checks of the range are too many or no longer kept. `option`: the parameter that needs them. */
export function assertChecksOfRange({ from, to }: TimeRange, step: LatencyStep, option: string, now: Date): void {
  const { maxDays } = STEPS[step]
  if (to.getTime() - from.getTime() > maxDays * DAY_MS) {
    const message = `with ${option}, from and to must not be more than ${maxDays} days apart`
    throw validationError([{ path: 'from', message }])
  }
  if (now.getTime() - from.getTime() > RETENTION_DAYS * DAY_MS) {
    const message = `with ${option}, from must not be more than ${RETENTION_DAYS} days ago: older checks are deleted`
    throw validationError([{ path: 'from', message }])
  }
}
