import { INITIAL_REVIEW_STATE, reviewSuppression } from './review.ts'
import type { OutageCause, Silence, SilencedMonitor, SuppressionContext } from './store.ts'
import { listPendingNotifications, type SuppressedTransition, suppressTransition } from './suppressed.ts'
import { computeGraceMs } from './timing.ts'

/**
 * The silence of a monitor whose status changes, with the change in it; null if its events may be sent. A change after a
 * withheld one is withheld too, to keep order. `before`: its silence until now. See
 * docs/design/suppression.md#suppressing-a-change.
 */
export function computeSilence(
  monitor: SilencedMonitor,
  transition: SuppressedTransition,
  before: Silence | undefined,
  { conditions }: SuppressionContext,
  now: Date,
): Silence | null {
  if (!before && transition.eventIds.length === 0) return null
  const withheld = suppressTransition(before?.withheld ?? null, transition)
  const review = reviewSuppression(
    before ?? INITIAL_REVIEW_STATE,
    conditions,
    { isOutage: withheld.began !== null, graceMs: computeGraceMs(monitor) },
    now,
  )
  const { isAsked } = before ?? { isAsked: false }
  if (review.kind === 'wait') return { ...review, monitorId: monitor.id, withheld, isAsked, sendBy: null }
  return before ? { ...before, withheld, reason: 'turn', dueAt: now } : null
}

/**
 * What happens to a silence that is due (docs/design/suppression.md#reviews). `waiting`: it still has a reason; null: send
 * what is withheld. `cause`: an ancestor that went down while the silence waited for it.
 */
export function reviewSilence(
  silence: Silence,
  monitor: SilencedMonitor & { isOutdated: boolean },
  { conditions, causedBy }: SuppressionContext,
  now: Date,
): { waiting: Silence | null; cause: OutageCause | null } {
  const { withheld, monitorId } = silence
  const isOutage = withheld.began !== null
  const result =
    listPendingNotifications(withheld).length === 0
      ? ({ kind: 'send' } as const)
      : reviewSuppression(silence, conditions, { isOutage, graceMs: computeGraceMs(monitor) }, now)
  const isCaused = causedBy !== null && silence.reason === 'doubt' && withheld.began !== null
  const cause = isCaused ? { monitorId, transitionId: withheld.began!.transitionId, causedBy } : null
  if (result.kind === 'wait') return { waiting: { ...silence, ...result, sendBy: null }, cause }
  return { waiting: monitor.isOutdated && isOutage ? awaitCurrentStatus(silence, now) : null, cause }
}

/** A late alert that is true is better than none, so an outage whose status may be out of date is sent after this time. */
const MAX_OUTDATED_MS = 5 * 60_000
const OUTDATED_INTERVAL_MS = 5_000

/** A silence whose outage may have ended unseen. Null: it has waited long enough and is sent. */
function awaitCurrentStatus(silence: Silence, now: Date): Silence | null {
  const sendBy = silence.sendBy ?? new Date(now.getTime() + MAX_OUTDATED_MS)
  if (now >= sendBy) return null
  const dueAt = new Date(Math.min(sendBy.getTime(), now.getTime() + OUTDATED_INTERVAL_MS))
  return { ...silence, reason: 'turn', sendBy, dueAt }
}
