import { computeSecondsToNextDay } from '../../control-plane/accounts/email/daily-limits/limits.ts'
import { waitFor } from './wait.ts'

const ENOUGH_SECONDS = 240

/** Daily limits restart at midnight (UTC): shortly before it, this waits for the new day. */
export const awayFromMidnight = () =>
  waitFor(() => computeSecondsToNextDay(new Date()) > ENOUGH_SECONDS, { label: 'the next day' })
