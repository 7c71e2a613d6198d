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
  if (review.kind === 'wait') return { ...review, monitorId: monitor.id, withheld, isAsked }
  return before ? { ...before, withheld, reason: 'turn', dueAt: now } : null
}

/**
 * What happens to a silence that is due (docs/design/suppression.md#reviews). `waiting`: it still has a reason; null: send
 * what is withheld. `cause`: an ancestor that went down while the silence waited for it.
 */
export function reviewSilence(
  silence: Silence,
  monitor: SilencedMonitor,
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
  return { waiting: result.kind === 'send' ? null : { ...silence, ...result }, cause }
}
