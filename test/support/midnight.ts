import { secondsToNextDay } from '../../control-plane/accounts/mails/limits.ts'
import { waitFor } from './wait.ts'

const ENOUGH_SECONDS = 240

/** Limits of a day begin again at midnight (UTC): where that is near, this waits for the new day. */
export const awayFromMidnight = () =>
  waitFor(() => secondsToNextDay(new Date()) > ENOUGH_SECONDS, { label: 'the next day' })
