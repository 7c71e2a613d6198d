import { createDueQueue, type DueQueue, type QueueItem } from './due-queue.ts'

/** What waits in a fair queue knows whose it is. */
export type TenantQueueItem = QueueItem & { tenant: number }

/**
 * The monitors of all tenants by due time, with a queue for each tenant, so that a tenant that has used its share of the
 * places waits without holding up what other tenants have due later.
 */
export type FairQueue<T extends TenantQueueItem> = {
  /** Queues an item for a time, or moves one that is queued. */
  put: (item: T, dueMs: number) => void
  remove: (item: T) => void
  /** of all tenants that are not held back */
  earliest: () => T | undefined
  /** This tenant's items are passed over until `release`. */
  holdBack: (tenant: number) => void
  /** No tenant is held back any more. */
  release: () => void
  isAnyHeldBack: () => boolean
  /** A tenant has one monitor more, or one fewer; `tenants` counts the tenants that have any. */
  join: (tenant: number) => void
  leave: (tenant: number) => void
  tenants: () => number
  /** Whether tenants other than this one have any. 0: it is not known which one it is. */
  isSharedWith: (tenant: number) => boolean
  countDue: (nowMs: number) => number
}

/** One tenant's queue, itself queued by the due time of its earliest item. */
type TenantQueue<T extends TenantQueueItem> = QueueItem & { queue: DueQueue<T>; monitors: number; isHeldBack: boolean }

export function createFairQueue<T extends TenantQueueItem>(): FairQueue<T> {
  const lanes = new Map<number, TenantQueue<T>>()
  const order = createDueQueue<TenantQueue<T>>()
  const heldBack = new Set<TenantQueue<T>>()

  function laneOf(tenant: number): TenantQueue<T> {
    let lane = lanes.get(tenant)
    if (!lane) {
      lane = { queue: createDueQueue<T>(), monitors: 0, isHeldBack: false, dueMs: 0, heapIndex: -1 }
      lanes.set(tenant, lane)
    }
    return lane
  }

  /** After a change of its items. */
  function reorder(lane: TenantQueue<T>): void {
    const earliest = lane.isHeldBack ? undefined : lane.queue.earliest()
    if (!earliest) order.remove(lane)
    else if (lane.heapIndex < 0 || lane.dueMs !== earliest.dueMs) order.put(lane, earliest.dueMs)
  }

  function setHeldBack(lane: TenantQueue<T>, isHeldBack: boolean): void {
    lane.isHeldBack = isHeldBack
    if (isHeldBack) heldBack.add(lane)
    else heldBack.delete(lane)
    reorder(lane)
  }

  return {
    put(item, dueMs) {
      const lane = laneOf(item.tenant)
      lane.queue.put(item, dueMs)
      reorder(lane)
    },
    remove(item) {
      if (item.heapIndex < 0) return
      const lane = laneOf(item.tenant)
      lane.queue.remove(item)
      reorder(lane)
    },
    earliest: () => order.earliest()?.queue.earliest(),
    holdBack: tenant => setHeldBack(laneOf(tenant), true),
    release() {
      for (const lane of heldBack) setHeldBack(lane, false)
    },
    isAnyHeldBack: () => heldBack.size > 0,
    join(tenant) {
      laneOf(tenant).monitors++
    },
    leave(tenant) {
      const lane = laneOf(tenant)
      lane.monitors--
      if (lane.monitors > 0 || lane.queue.earliest()) return
      setHeldBack(lane, false)
      lanes.delete(tenant)
    },
    tenants: () => lanes.size,
    isSharedWith: tenant => tenant !== 0 && lanes.size > Number(lanes.has(tenant)),
    countDue(nowMs) {
      let count = 0
      for (const { queue } of lanes.values()) count += queue.countDue(nowMs)
      return count
    },
  }
}
