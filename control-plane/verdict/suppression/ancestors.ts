import type { CheckStatus } from '../../../shared/checks/result.ts'
import type { SuppressionConditions } from './review.ts'
import type { NotifiedStatus } from './suppressed.ts'
import { type CheckTiming, computeParentPendingMs } from './timing.ts'

/** A parent of a monitor, or an ancestor of a parent. */
export type Ancestor = CheckTiming & {
  monitorId: string
  ancestorId: string
  /** 1: a parent */
  distance: number
  status: NotifiedStatus
  /** one of its regions fails, or has a failed attempt */
  isFailing: boolean
  /** probes check it, so it can be checked on request */
  isAskable: boolean
}

/** The nearest ancestor that is down, which is shown as the cause of an outage; null if there is none. */
export function findCause(ancestors: readonly Ancestor[]): string | null {
  const [nearest] = ancestors
    .filter(({ status }) => status === 'down')
    .sort((a, b) => a.distance - b.distance || (a.ancestorId < b.ancestorId ? -1 : 1))
  return nearest?.ancestorId ?? null
}

export function buildSuppressionConditions(
  ancestors: readonly Ancestor[],
  maintenanceUntil: Date | null,
  silencedUntil: Date | null,
): SuppressionConditions {
  const slowest = (some: readonly Ancestor[]) =>
    some.length === 0 ? null : Math.max(...some.map(computeParentPendingMs))
  return {
    maintenanceUntil,
    silencedUntil,
    isParentDown: ancestors.some(({ status }) => status === 'down'),
    parentPendingMs: slowest(ancestors.filter(({ isFailing }) => isFailing)),
    parentCheckMs: slowest(ancestors.filter(({ isAskable }) => isAskable)),
  }
}

/**
 * True when a check of an ancestor on request proves that it does not fail: at least one region has a result of the target,
 * and none is `down`. `statuses`: one for each region; `unknown` and `missed` contain no information about the target.
 */
export function isFoundHealthy(statuses: readonly CheckStatus[]): boolean {
  return statuses.some(status => status === 'up' || status === 'degraded') && !statuses.includes('down')
}
