import { findSlotFrom, type Slots } from '../../shared/checks/slots.ts'

/** The time between the end of a check and its processing by the probe, on a slow machine. */
const PROCESSING_MS = 5_000

/** A check as the API returns it. */
export type CheckTimes = { scheduled_at: string; started_at: string; response_time_ms: number }

/**
 * The slots (Unix time in ms) between the first check and the last one that have no check. A slot that passes while a check
 * runs is covered by it (docs/design/probes.md#attempts); the first check of a monitor is outside the slots.
 */
export function findUncheckedSlots(slots: Slots, checks: CheckTimes[]): number[] {
  const periods = checks.map(check => ({
    fromMs: Date.parse(check.scheduled_at),
    toMs: Date.parse(check.started_at) + check.response_time_ms + PROCESSING_MS,
  }))
  const lastMs = Math.max(...periods.map(({ fromMs }) => fromMs))
  const unchecked: number[] = []
  for (let slot = findSlotFrom(slots, Math.min(...periods.map(({ fromMs }) => fromMs))); slot <= lastMs; ) {
    if (!periods.some(({ fromMs, toMs }) => fromMs <= slot && slot <= toMs)) unchecked.push(slot)
    slot = findSlotFrom(slots, slot + 1)
  }
  return unchecked
}
