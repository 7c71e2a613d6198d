import { nowMs } from './clock.ts'
import { type Loop, type LoopLimits, type LoopTools, startLoop } from './loop.ts'

/** Processes what is due and returns when the next work is due; null when none is known. */
type ScheduledRound = (signal: AbortSignal) => Promise<Date | null>

/** the maximum of setTimeout */
const MAX_TIMER_MS = 2 ** 31 - 1

/** A loop that also runs at the time that its last round returned; see startLoop. */
export function startScheduledLoop(
  name: string,
  intervalMs: number,
  tools: LoopTools,
  round: ScheduledRound,
  limits: LoopLimits = {},
): Loop {
  let timer: NodeJS.Timeout | undefined
  const loop = startLoop(name, intervalMs, tools, runAndSchedule, limits)

  async function runAndSchedule(signal: AbortSignal): Promise<void> {
    clearTimeout(timer)
    const due = await round(signal)
    if (due === null || signal.aborted) return
    timer = setTimeout(loop.wake, Math.min(Math.max(0, due.getTime() - nowMs()), MAX_TIMER_MS))
  }
  return {
    wake: loop.wake,
    async stop() {
      await loop.stop()
      clearTimeout(timer)
    },
  }
}
