import { fnv1a } from '../nats/subjects.ts'

/**
 * The times at which periodic work is due: `phase + k * interval`. The phase is derived from the work itself, so slots are
 * spread, never drift, and are the same after a restart.
 */
export type Slots = { phaseMs: number; intervalMs: number }

/** The first slot at or after a time, in ms since 1970. */
export function findSlotFrom(slots: Slots, fromMs: number): number {
  return slots.phaseMs + Math.ceil((fromMs - slots.phaseMs) / slots.intervalMs) * slots.intervalMs
}

/** The slots of a monitor in a region, on the control plane's clock. */
export function computeSlots(monitorId: string, region: string, intervalSeconds: number): Slots {
  const intervalMs = intervalSeconds * 1000
  return { phaseMs: fnv1a(monitorId + region) % intervalMs, intervalMs }
}
