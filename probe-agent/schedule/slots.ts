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
/** How long ago the slot of an unfinished chain may be at least. */
const MIN_UNFINISHED_MS = 120_000
/** The longest time until the work of a probe that ended has moved. */
const MOVE_MS = 30_000
/** The slots of that time are checked again in this time. */
const CATCH_UP_MS = 30_000

/**
 * When a monitor that was just assigned is due, in ms since 1970. The chain of its last slot may have been lost with the probe
 * that had it before: if the interval is long and the slot recent, it is checked again. The longer ago the slot, the sooner, so
 * that these checks are spread. `chainMs`: the longest time of a chain.
 */
export function findFirstDue(slots: Slots, chainMs: number, nowMs: number): number {
  const nextMs = findSlotFrom(slots, nowMs)
  const agoMs = nowMs - (nextMs - slots.intervalMs)
  const unfinishedMs = Math.max(MIN_UNFINISHED_MS, chainMs + MOVE_MS)
  if (slots.intervalMs <= MAX_WAIT_MS || agoMs > unfinishedMs) return nextMs
  return Math.min(nextMs, Math.ceil(nowMs + (1 - agoMs / unfinishedMs) * CATCH_UP_MS))
}
