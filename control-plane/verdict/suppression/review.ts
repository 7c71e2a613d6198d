/** What speaks against telling of a monitor now. Pure. */
export type SuppressionConditions = {
  /** the end of the maintenance that it is in */
  maintenanceUntil: Date | null
  isParentDown: boolean
  /** how long the slowest ancestor that fails, and is not down yet, can need for it, in ms; null when none does */
  parentPendingMs: number | null
  /** the same for all ancestors that can be asked how they are */
  parentCheckMs: number | null
}

export type SuppressionReason = 'maintenance' | 'parent' | 'grace' | 'doubt'

/** How far silences have been looked at. */
export type ReviewState = {
  isParentDown: boolean
  /** after a parent's outage: until when the monitor's own checks have their chance */
  graceUntil: Date | null
  /** set once: a doubt is not prolonged */
  doubtUntil: Date | null
  /** whether the ancestors were asked and have nothing to say that would keep up a doubt */
  isAnswered: boolean
}

export const INITIAL_REVIEW_STATE: ReviewState = {
  isParentDown: false,
  graceUntil: null,
  doubtUntil: null,
  isAnswered: false,
}

/** `tell`: nothing speaks against it. */
export type ReviewResult = { kind: 'tell' } | ({ kind: 'wait'; reason: SuppressionReason; dueAt: Date } & ReviewState)

/** However long a reason may last, it is looked at again after this: nothing that went unnoticed sleeps for longer. */
const REVIEW_INTERVAL_MS = 30_000
const PARENT_PENDING_INTERVAL_MS = 1_000

/**
 * Whether what is withheld of a monitor may be told. `isOutage`: it includes the beginning of an outage, for which a
 * parent that may be about to go down is waited for. `graceMs`: how long the monitor's own checks may need to see that its parent is back.
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
  if (isParentDown) return wait('parent', Number.POSITIVE_INFINITY)
  if (graceUntil !== null && now < graceUntil) return wait('grace', graceUntil.getTime())
  const doubtMs = conditions.parentPendingMs ?? (isAnswered ? null : conditions.parentCheckMs)
  if (isOutage && doubtMs !== null) {
    const doubtUntil = state.doubtUntil ?? new Date(now.getTime() + doubtMs)
    if (now < doubtUntil) return wait('doubt', doubtUntil.getTime(), PARENT_PENDING_INTERVAL_MS, doubtUntil)
  }
  return { kind: 'tell' }
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
