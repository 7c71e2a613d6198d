import { figuresSince, lastMissSince } from '../../canaries/figures-store.ts'
import { allCanaries } from '../../canaries/store.ts'
import type { Db } from '../../platform/postgres.ts'
import { TRUST_DAYS, type Trust, trustOf } from './trust.ts'

/** So long what was read is shown without another question to PostgreSQL. */
const FRESH_MS = 60_000
/** After a failure what is there is shown for so long. */
const AGAIN_AFTER_MS = 5_000
const DAY_MS = 86_400_000

export async function readTrust(db: Db, now: Date): Promise<Trust> {
  const since = new Date(now.getTime() - TRUST_DAYS * DAY_MS)
  const [canaries, figures, lastMiss] = await Promise.all([
    allCanaries(db),
    figuresSince(db, since),
    lastMissSince(db, since),
  ])
  return trustOf({ canaries, figures, lastMiss }, now)
}

/**
 * Keeps what `read` answers for a minute and asks it once at a time, however many wait for it. While it fails, what is there
 * is shown, however old; its time is part of it. Rejects only when there is nothing.
 */
export function createKept<T>(read: () => Promise<T>, nowMs: () => number): () => Promise<T> {
  let kept: { value: T; untilMs: number } | null = null
  let reading: Promise<T> | null = null

  const readOnce = () =>
    read()
      .then(value => {
        kept = { value, untilMs: nowMs() + FRESH_MS }
        return value
      })
      .catch(error => {
        if (kept === null) throw error
        kept = { ...kept, untilMs: nowMs() + AGAIN_AFTER_MS }
        return kept.value
      })
      .finally(() => {
        reading = null
      })

  return async () => {
    if (kept !== null && nowMs() < kept.untilMs) return kept.value
    reading ??= readOnce()
    return await reading
  }
}
