/** The conditions that may withhold the events of a monitor now. */
export type SuppressionConditions = {
  /** the end of the current maintenance; null outside */
  maintenanceUntil: Date | null
  /** the end of the last silence that people created; null without one */
  silencedUntil: Date | null
  isParentDown: boolean
  /** how long the slowest ancestor that fails and is not down yet may need to go down, in ms; null if none fails */
  parentPendingMs: number | null
  /** the same for all ancestors that can be checked on request */
  parentCheckMs: number | null
}

export type SuppressionReason = 'maintenance' | 'silenced' | 'parent' | 'grace' | 'doubt'

/** The stored progress of a silence. */
export type ReviewState = {
  isParentDown: boolean
  /** after the outage of a parent: until when the monitor's own checks have time to recover */
  graceUntil: Date | null
  /** set once, because a doubt is not extended */
  doubtUntil: Date | null
  /** whether the ancestors were checked and none failed */
  isAnswered: boolean
}

export const INITIAL_REVIEW_STATE: ReviewState = {
  isParentDown: false,
  graceUntil: null,
  doubtUntil: null,
  isAnswered: false,
}

/** `send`: no reason is left. */
type ReviewResult = { kind: 'send' } | ({ kind: 'wait'; reason: SuppressionReason; dueAt: Date } & ReviewState)

/** A silence is reviewed at least this often, whatever its reason, in case a change was missed. */
const REVIEW_INTERVAL_MS = 30_000
const PARENT_PENDING_INTERVAL_MS = 1_000

/**
 * Whether the withheld events of a monitor may be sent. `isOutage`: they include the beginning of an outage, which
 * waits for an ancestor that may go down soon. `graceMs`: how long the monitor's own checks may need to recover after
 * its parent.
 */
export function reviewSuppression(
  state: ReviewState,
  conditions: SuppressionConditions,
  { isOutage, graceMs }: { isOutage: boolean; graceMs: number },
  now: Date,
): ReviewResult {
  const { isParentDown } = conditions
  const { isAnswered } = state
  const graceUntil = computeGraceUntil(state, conditions, graceMs, now)
  const wait = (
    reason: SuppressionReason,
    untilMs: number,
    everyMs = REVIEW_INTERVAL_MS,
    doubtUntil = state.doubtUntil,
  ): ReviewResult => {
    const dueAt = new Date(Math.min(untilMs, now.getTime() + everyMs))
    return { kind: 'wait', reason, dueAt, isParentDown, graceUntil, doubtUntil, isAnswered }
  }
  if (conditions.maintenanceUntil !== null) return wait('maintenance', conditions.maintenanceUntil.getTime())
  if (conditions.silencedUntil !== null) return wait('silenced', conditions.silencedUntil.getTime())
  if (isParentDown) return wait('parent', Number.POSITIVE_INFINITY)
  if (graceUntil !== null && now < graceUntil) return wait('grace', graceUntil.getTime())
  const doubtMs = conditions.parentPendingMs ?? (isAnswered ? null : conditions.parentCheckMs)
  if (isOutage && doubtMs !== null) {
    const doubtUntil = state.doubtUntil ?? new Date(now.getTime() + doubtMs)
    if (now < doubtUntil) return wait('doubt', doubtUntil.getTime(), PARENT_PENDING_INTERVAL_MS, doubtUntil)
  }
  return { kind: 'send' }
}

function computeGraceUntil(
  state: ReviewState,
  { isParentDown }: SuppressionConditions,
  graceMs: number,
  now: Date,
): Date | null {
  if (isParentDown) return null
  return state.isParentDown ? new Date(now.getTime() + graceMs) : state.graceUntil
}
