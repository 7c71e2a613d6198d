import { findSlotFrom, type Slots } from '../../shared/checks/slots.ts'

/**
 * The slots that are missed when a check due at `dueMs` has not started by `nowMs`: those that are at least one interval
 * old. `next`: the oldest slot that can still be used.
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
