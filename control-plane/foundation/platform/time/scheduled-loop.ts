import { nowMs, sleep } from './clock.ts'
import { type Loop, type LoopLimits, type LoopTools, startLoop } from './loop.ts'

/** Works off what is due and answers when the next of it will be; null when nothing is known to come. */
export type ScheduledRound = (signal: AbortSignal) => Promise<Date | null>

/** setTimeout knows no more */
const MAX_TIMER_MS = 2 ** 31 - 1

/** A loop that also runs when its last round said that something will be due; see startLoop. */
export function startScheduledLoop(
  name: string,
  intervalMs: number,
  tools: LoopTools,
  round: ScheduledRound,
  limits: LoopLimits = {},
): Loop {
  let timer = new AbortController()
  const loop = startLoop(name, intervalMs, tools, lookAhead, limits)

  async function lookAhead(signal: AbortSignal): Promise<void> {
    timer.abort()
    const mine = new AbortController()
    timer = mine
    const due = await round(signal)
    if (due === null || signal.aborted) return
    const waitMs = Math.min(Math.max(0, due.getTime() - nowMs()), MAX_TIMER_MS)
    sleep(waitMs, mine.signal).then(() => mine.signal.aborted || loop.wake())
  }
  return {
    wake: loop.wake,
    async stop() {
      timer.abort()
      await loop.stop()
      timer.abort()
    },
  }
}
