import { findSlotFrom } from '../../shared/checks/slots.ts'
import type { AssignedMonitor, RecheckChain } from './assigned-monitors.ts'

/** After the one just checked, also when the clock has stepped back before it; not after a step of an interval or more. */
export function findNextSlot({ slots, lastScheduledMs }: AssignedMonitor, nowMs: number): number {
  const isStep = lastScheduledMs >= nowMs && lastScheduledMs - nowMs < slots.intervalMs
  return findSlotFrom(slots, isStep ? lastScheduledMs + 1 : nowMs)
}

/** The scheduled time of a chain that was asked for: the one asked for, unless it lies ahead or before what was reported. */
export function resolveChainTime(
  { lastScheduledMs, lastOutOfBandMs: lastAsideMs }: AssignedMonitor,
  askedForMs: number,
  nowMs: number,
): number {
  const isInOrder = askedForMs > Math.max(lastScheduledMs, lastAsideMs) && askedForMs <= nowMs
  return isInOrder ? askedForMs : Math.max(nowMs, lastAsideMs + 1)
}

/** Of an attempt that runs next to a chain: results of a monitor differ in their scheduled times, and many may ask in one ms. */
export function resolveOutOfBandTime(
  { lastOutOfBandMs: lastAsideMs }: AssignedMonitor,
  { scheduledAtMs }: RecheckChain,
  askedForMs: number,
): number {
  return Math.max(askedForMs, scheduledAtMs + 1, lastAsideMs + 1)
}

/** The clock was set: times that would lie in the future go back with it. */
export function shiftTimes(watch: AssignedMonitor, movedMs: number, nowMs: number): void {
  const moved = (ms: number) => (ms > nowMs ? Math.round(ms + movedMs) : ms)
  watch.lastScheduledMs = moved(watch.lastScheduledMs)
  watch.lastOutOfBandMs = moved(watch.lastOutOfBandMs)
  if (watch.chain) watch.chain.scheduledAtMs = moved(watch.chain.scheduledAtMs)
}
