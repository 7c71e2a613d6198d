import { findSlotFrom } from '../../shared/checks/slots.ts'
import type { AssignedMonitor } from './assigned-monitors.ts'

/** The slot after the last one, even when the clock was set back before it by less than an interval. */
export function findNextSlot({ slots, lastScheduledMs }: AssignedMonitor, nowMs: number): number {
  const isStep = lastScheduledMs >= nowMs && lastScheduledMs - nowMs < slots.intervalMs
  return findSlotFrom(slots, isStep ? lastScheduledMs + 1 : nowMs)
}

/**
 * The scheduled time of a chain on demand: the requested one, unless it is in the future or before a reported one. It is later
 * than that of the chain before, also when a sample of the clock moved the time back.
 */
export function resolveChainTime({ lastScheduledMs }: AssignedMonitor, requestedMs: number, nowMs: number): number {
  if (requestedMs > lastScheduledMs && requestedMs <= nowMs) return requestedMs
  return Math.max(nowMs, lastScheduledMs + 1)
}

/** Moves times that are in the future, after the control plane's clock was set. */
export function shiftTimes(monitor: AssignedMonitor, movedMs: number, nowMs: number): void {
  const moved = (ms: number) => (ms > nowMs ? Math.round(ms + movedMs) : ms)
  monitor.lastScheduledMs = moved(monitor.lastScheduledMs)
  if (monitor.chain) monitor.chain.scheduledAtMs = moved(monitor.chain.scheduledAtMs)
}
