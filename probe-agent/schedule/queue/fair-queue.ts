import { createDueQueue, type DueQueue, type QueueItem } from './due-queue.ts'

/** An item of a fair queue, with the number of its tenant. */
export type TenantQueueItem = QueueItem & { tenant: number }

/**
 * The monitors of all tenants by due time, with one queue per tenant. A tenant that has used its share of the permits
 * waits without delaying other tenants (docs/design/probes.md#permits).
 */
export type FairQueue<T extends TenantQueueItem> = {
  /** Adds an item, or moves it when it is already queued. */
  put: (item: T, dueMs: number) => void
  remove: (item: T) => void
  /** the earliest item of all tenants that are not held back */
  earliest: () => T | undefined
  /** Skips the items of this tenant until `release`. */
  holdBack: (tenant: number) => void
  /** Releases all tenants that are held back. */
  release: () => void
  isAnyHeldBack: () => boolean
  /** Adds or removes one monitor of a tenant. `tenants` counts the tenants with monitors. */
  join: (tenant: number) => void
  leave: (tenant: number) => void
  tenants: () => number
  /** Whether other tenants have monitors. `tenant` 0: unknown. */
  isSharedWith: (tenant: number) => boolean
  countDue: (nowMs: number) => number
}

/** One tenant's queue, itself queued by the due time of its earliest item. */
type TenantQueue<T extends TenantQueueItem> = QueueItem & { queue: DueQueue<T>; monitors: number; isHeldBack: boolean }

export function createFairQueue<T extends TenantQueueItem>(): FairQueue<T> {
  const tenantQueues = new Map<number, TenantQueue<T>>()
  const order = createDueQueue<TenantQueue<T>>()
  const heldBack = new Set<TenantQueue<T>>()

  function getTenantQueue(tenant: number): TenantQueue<T> {
    let tenantQueue = tenantQueues.get(tenant)
    if (!tenantQueue) {
      tenantQueue = { queue: createDueQueue<T>(), monitors: 0, isHeldBack: false, dueMs: 0, heapIndex: -1 }
      tenantQueues.set(tenant, tenantQueue)
    }
    return tenantQueue
  }

  /** Updates the position of a tenant after a change of its items. */
  function reorder(tenantQueue: TenantQueue<T>): void {
    const earliest = tenantQueue.isHeldBack ? undefined : tenantQueue.queue.earliest()
    if (!earliest) order.remove(tenantQueue)
    else if (tenantQueue.heapIndex < 0 || tenantQueue.dueMs !== earliest.dueMs) order.put(tenantQueue, earliest.dueMs)
  }

  function setHeldBack(tenantQueue: TenantQueue<T>, isHeldBack: boolean): void {
    tenantQueue.isHeldBack = isHeldBack
    if (isHeldBack) heldBack.add(tenantQueue)
    else heldBack.delete(tenantQueue)
    reorder(tenantQueue)
  }

  return {
    put(item, dueMs) {
      const tenantQueue = getTenantQueue(item.tenant)
      tenantQueue.queue.put(item, dueMs)
      reorder(tenantQueue)
    },
    remove(item) {
      if (item.heapIndex < 0) return
      const tenantQueue = getTenantQueue(item.tenant)
      tenantQueue.queue.remove(item)
      reorder(tenantQueue)
    },
    earliest: () => order.earliest()?.queue.earliest(),
    holdBack: tenant => setHeldBack(getTenantQueue(tenant), true),
    release() {
      for (const tenantQueue of heldBack) setHeldBack(tenantQueue, false)
    },
    isAnyHeldBack: () => heldBack.size > 0,
    join(tenant) {
      getTenantQueue(tenant).monitors++
    },
    leave(tenant) {
      const tenantQueue = getTenantQueue(tenant)
      tenantQueue.monitors--
      if (tenantQueue.monitors > 0 || tenantQueue.queue.earliest()) return
      setHeldBack(tenantQueue, false)
      tenantQueues.delete(tenant)
    },
    tenants: () => tenantQueues.size,
    isSharedWith: tenant => tenant !== 0 && tenantQueues.size > Number(tenantQueues.has(tenant)),
    countDue(nowMs) {
      let count = 0
      for (const { queue } of tenantQueues.values()) count += queue.countDue(nowMs)
      return count
    },
  }
}
