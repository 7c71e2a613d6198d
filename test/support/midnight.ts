import { computeSecondsToNextDay } from '../../control-plane/accounts/email/daily-limits/limits.ts'
import { waitFor } from './wait.ts'

const ENOUGH_SECONDS = 240

/** Daily limits start again at midnight (UTC). Shortly before, this waits for the next day. */
export const awayFromMidnight = () =>
  waitFor(() => computeSecondsToNextDay(new Date()) > ENOUGH_SECONDS, { label: 'the next day' })
