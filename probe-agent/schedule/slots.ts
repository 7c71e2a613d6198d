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

/** Monitors with a longer interval do not wait for their next slot. */
const MAX_WAIT_MS = 60_000
/** How long another probe may have had a monitor without checking it: until its work moved, and the chain that it had begun. */
const UNCHECKED_MS = 120_000
/** The slots of that time are checked again in this time. */
const CATCH_UP_MS = 30_000

/**
 * When a monitor that was just assigned is due, in ms since 1970. Its last slot may have been lost with the probe that had it
 * before: if the interval is long and the slot recent, it is checked again. The longer ago the slot, the sooner, so that these
 * checks are spread.
 */
export function findFirstDue(slots: Slots, nowMs: number): number {
  const nextMs = findSlotFrom(slots, nowMs)
  const agoMs = nowMs - (nextMs - slots.intervalMs)
  if (slots.intervalMs <= MAX_WAIT_MS || agoMs > UNCHECKED_MS) return nextMs
  return Math.min(nextMs, Math.ceil(nowMs + (1 - agoMs / UNCHECKED_MS) * CATCH_UP_MS))
}
