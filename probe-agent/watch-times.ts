import { slotFrom } from '../shared/slots.ts'
import type { Chain, Watch } from './watches.ts'

/** After the one just checked, also when the clock has stepped back before it; not after a step of an interval or more. */
export function nextSlot({ slots, lastScheduledMs }: Watch, nowMs: number): number {
  const isStep = lastScheduledMs >= nowMs && lastScheduledMs - nowMs < slots.intervalMs
  return slotFrom(slots, isStep ? lastScheduledMs + 1 : nowMs)
}

/** The scheduled time of a chain that was asked for: the one asked for, unless it lies ahead or before what was reported. */
export function timeOfChain({ lastScheduledMs, lastAsideMs }: Watch, askedForMs: number, nowMs: number): number {
  const isInOrder = askedForMs > Math.max(lastScheduledMs, lastAsideMs) && askedForMs <= nowMs
  return isInOrder ? askedForMs : Math.max(nowMs, lastAsideMs + 1)
}

/** Of an attempt that runs next to a chain: results of a monitor differ in their scheduled times, and many may ask in one ms. */
export function timeOfAside({ lastAsideMs }: Watch, { scheduledAtMs }: Chain, askedForMs: number): number {
  return Math.max(askedForMs, scheduledAtMs + 1, lastAsideMs + 1)
}

/** The clock was set: times that would lie in the future go back with it. */
export function moveTimes(watch: Watch, movedMs: number, nowMs: number): void {
  const moved = (ms: number) => (ms > nowMs ? Math.round(ms + movedMs) : ms)
  watch.lastScheduledMs = moved(watch.lastScheduledMs)
  watch.lastAsideMs = moved(watch.lastAsideMs)
  if (watch.chain) watch.chain.scheduledAtMs = moved(watch.chain.scheduledAtMs)
}
