import { fnv1a } from '../shared/subjects.ts'

/**
 * When a monitor is checked: at `phase + k * interval` on the control plane's clock. The phase comes from the monitor and
 * the region alone, so slots are spread, never drift, and are the same after a restart (decisions 4.1).
 */
export type Slots = { phaseMs: number; intervalMs: number }

export function slotsOf(monitorId: string, region: string, intervalSeconds: number): Slots {
  const intervalMs = intervalSeconds * 1000
  return { phaseMs: fnv1a(monitorId + region) % intervalMs, intervalMs }
}

/** The first slot at or after a time, in ms since 1970. */
export function slotFrom(slots: Slots, fromMs: number): number {
  return slots.phaseMs + Math.ceil((fromMs - slots.phaseMs) / slots.intervalMs) * slots.intervalMs
}

/**
 * Which slots are lost when a check due at `dueMs` has not started by `nowMs`: each that a whole interval has passed
 * since. `next` is the oldest slot that can still be kept.
 */
export function missedSlots(slots: Slots, dueMs: number, nowMs: number): { missed: number[]; next: number } {
  const missed: number[] = []
  let next = dueMs
  while (next + slots.intervalMs <= nowMs) {
    missed.push(next)
    next = slotFrom(slots, next + 1)
  }
  return { missed, next }
}
