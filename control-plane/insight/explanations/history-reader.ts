import { withTimeout } from '../../foundation/platform/time/clock.ts'

/** The history may be slow or unreachable; an answer about a verdict does not wait for it. */
const HISTORY_TIMEOUT_MS = 3_000

/** What the history answers; null while it cannot be read. */
export const readHistory = <T>(work: Promise<T>): Promise<T | null> =>
  withTimeout(
    work.catch(() => null),
    HISTORY_TIMEOUT_MS,
  )
