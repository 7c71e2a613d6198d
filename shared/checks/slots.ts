/**
 * When something that is repeated is due: at `phase + k * interval`. The phase comes from what is repeated, so slots are
 * spread, never drift, and are the same after a restart (decisions 4.1).
 */
export type Slots = { phaseMs: number; intervalMs: number }

/** The first slot at or after a time, in ms since 1970. */
export function findSlotFrom(slots: Slots, fromMs: number): number {
  return slots.phaseMs + Math.ceil((fromMs - slots.phaseMs) / slots.intervalMs) * slots.intervalMs
}
