import { type Slots, slotFrom } from '../shared/slots.ts'
import { fnv1a } from '../shared/subjects.ts'

/** When a monitor is checked in a region, on the control plane's clock (decisions 4.1). */
export function slotsOf(monitorId: string, region: string, intervalSeconds: number): Slots {
  const intervalMs = intervalSeconds * 1000
  return { phaseMs: fnv1a(monitorId + region) % intervalMs, intervalMs }
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
