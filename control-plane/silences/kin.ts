import { doubtMsOf, type Pace } from './patience.ts'
import type { Reasons } from './review.ts'
import type { Status } from './withheld.ts'

/** A parent of a monitor, or a parent's parent. */
export type Ancestor = Pace & {
  monitorId: string
  ancestorId: string
  /** 1: a parent */
  distance: number
  status: Status
  /** one of its regions fails, or is about to */
  isFailing: boolean
  /** probes check it, so it can be asked how it is */
  isAskable: boolean
}

/** The nearest ancestor that is down, as the cause of an outage. */
export function causeOf(ancestors: readonly Ancestor[]): string | null {
  const [nearest] = ancestors
    .filter(({ status }) => status === 'down')
    .sort((a, b) => a.distance - b.distance || (a.ancestorId < b.ancestorId ? -1 : 1))
  return nearest?.ancestorId ?? null
}

export function reasonsOf(ancestors: readonly Ancestor[], maintenanceUntil: Date | null): Reasons {
  const slowest = (some: readonly Ancestor[]) => (some.length === 0 ? null : Math.max(...some.map(doubtMsOf)))
  return {
    maintenanceUntil,
    isParentDown: ancestors.some(({ status }) => status === 'down'),
    doubtMs: slowest(ancestors.filter(({ isFailing }) => isFailing)),
    askMs: slowest(ancestors.filter(({ isAskable }) => isAskable)),
  }
}
