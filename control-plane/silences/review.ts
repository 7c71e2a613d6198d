/** What speaks against telling of a monitor now. Pure. */
export type Reasons = {
  /** the end of the maintenance that it is in */
  maintenanceUntil: Date | null
  isParentDown: boolean
  /** how long the slowest ancestor that fails, and is not down yet, can need for it, in ms; null when none does */
  doubtMs: number | null
  /** the same for all ancestors that can be asked how they are */
  askMs: number | null
}

export type Reason = 'maintenance' | 'parent' | 'grace' | 'doubt'

/** How far silences have been looked at. */
export type Course = {
  isParentDown: boolean
  /** after a parent's outage: until when the monitor's own checks have their chance */
  graceUntil: Date | null
  /** set once: a doubt is not prolonged */
  doubtUntil: Date | null
  /** whether the ancestors were asked and have nothing to say that would keep up a doubt */
  isAnswered: boolean
}

export const NO_COURSE: Course = { isParentDown: false, graceUntil: null, doubtUntil: null, isAnswered: false }

/** `tell`: nothing speaks against it. */
export type Finding = { kind: 'tell' } | ({ kind: 'wait'; reason: Reason; dueAt: Date } & Course)

/** However long a reason may last, it is looked at again after this: nothing that went unnoticed sleeps for longer. */
const LOOK_EVERY_MS = 30_000
const DOUBT_EVERY_MS = 1_000

/**
 * Whether what is withheld of a monitor may be told. `isOutage`: it includes the beginning of an outage, for which a
 * parent that may be about to go down is waited for. `graceMs`: how long the monitor's own checks may need to see that its parent is back.
 */
export function review(
  course: Course,
  reasons: Reasons,
  { isOutage, graceMs }: { isOutage: boolean; graceMs: number },
  now: Date,
): Finding {
  const { isParentDown } = reasons
  const { isAnswered } = course
  const graceUntil = graceAfter(course, reasons, graceMs, now)
  const wait = (reason: Reason, untilMs: number, everyMs = LOOK_EVERY_MS, doubtUntil = course.doubtUntil): Finding => {
    const dueAt = new Date(Math.min(untilMs, now.getTime() + everyMs))
    return { kind: 'wait', reason, dueAt, isParentDown, graceUntil, doubtUntil, isAnswered }
  }
  if (reasons.maintenanceUntil !== null) return wait('maintenance', reasons.maintenanceUntil.getTime())
  if (isParentDown) return wait('parent', Number.POSITIVE_INFINITY)
  if (graceUntil !== null && now < graceUntil) return wait('grace', graceUntil.getTime())
  const doubtMs = reasons.doubtMs ?? (isAnswered ? null : reasons.askMs)
  if (isOutage && doubtMs !== null) {
    const doubtUntil = course.doubtUntil ?? new Date(now.getTime() + doubtMs)
    if (now < doubtUntil) return wait('doubt', doubtUntil.getTime(), DOUBT_EVERY_MS, doubtUntil)
  }
  return { kind: 'tell' }
}

function graceAfter(course: Course, { isParentDown }: Reasons, graceMs: number, now: Date): Date | null {
  if (isParentDown) return null
  return course.isParentDown ? new Date(now.getTime() + graceMs) : course.graceUntil
}
