import { findSlotFrom } from '../../shared/checks/slots.ts'
import type { AssignedMonitor, RecheckChain } from './assigned-monitors.ts'

/** The slot after the last one, even when the clock was set back before it by less than an interval. */
export function findNextSlot({ slots, lastScheduledMs }: AssignedMonitor, nowMs: number): number {
  const isStep = lastScheduledMs >= nowMs && lastScheduledMs - nowMs < slots.intervalMs
  return findSlotFrom(slots, isStep ? lastScheduledMs + 1 : nowMs)
}

/** The scheduled time of a chain on demand: the requested one, unless it is in the future or before a reported one. */
export function resolveChainTime(
  { lastScheduledMs, lastOutOfBandMs }: AssignedMonitor,
  requestedMs: number,
  nowMs: number,
): number {
  const isInOrder = requestedMs > Math.max(lastScheduledMs, lastOutOfBandMs) && requestedMs <= nowMs
  return isInOrder ? requestedMs : Math.max(nowMs, lastOutOfBandMs + 1)
}

/** The scheduled time of an attempt outside a chain. Results of a monitor need distinct scheduled times. */
export function resolveOutOfBandTime(
  { lastOutOfBandMs }: AssignedMonitor,
  { scheduledAtMs }: RecheckChain,
  requestedMs: number,
): number {
  return Math.max(requestedMs, scheduledAtMs + 1, lastOutOfBandMs + 1)
}

/** Moves times that are in the future, after the control plane's clock was set. */
export function shiftTimes(monitor: AssignedMonitor, movedMs: number, nowMs: number): void {
  const moved = (ms: number) => (ms > nowMs ? Math.round(ms + movedMs) : ms)
  monitor.lastScheduledMs = moved(monitor.lastScheduledMs)
  monitor.lastOutOfBandMs = moved(monitor.lastOutOfBandMs)
  if (monitor.chain) monitor.chain.scheduledAtMs = moved(monitor.chain.scheduledAtMs)
}
