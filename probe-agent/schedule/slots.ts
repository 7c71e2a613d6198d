import { findSlotFrom, type Slots } from '../../shared/checks/slots.ts'
import { fnv1a } from '../../shared/nats/subjects.ts'

/** When a monitor is checked in a region, on the control plane's clock (decisions 4.1). */
export function computeSlots(monitorId: string, region: string, intervalSeconds: number): Slots {
  const intervalMs = intervalSeconds * 1000
  return { phaseMs: fnv1a(monitorId + region) % intervalMs, intervalMs }
}

/**
 * Which slots are lost when a check due at `dueMs` has not started by `nowMs`: each that a whole interval has passed
 * since. `next` is the oldest slot that can still be kept.
 */
export function findMissedSlots(slots: Slots, dueMs: number, nowMs: number): { missed: number[]; next: number } {
  const missed: number[] = []
  let next = dueMs
  while (next + slots.intervalMs <= nowMs) {
    missed.push(next)
    next = findSlotFrom(slots, next + 1)
  }
  return { missed, next }
}
