import { type Loop, type LoopLimits, type LoopTools, startLoop } from './loop.ts'

/** Processes the next rows after an id ('' for the first ones). Returns the id to continue after, or null after the last row. */
type BatchStep = (after: string) => Promise<string | null>

/** A loop that walks through a table in batches, see startLoop. If a round has to end early, the next one continues there. */
export function startBatchLoop(
  name: string,
  intervalMs: number,
  tools: LoopTools,
  step: BatchStep,
  limits: LoopLimits = {},
): Loop {
  let after = ''
  const round = async (signal: AbortSignal) => {
    do after = (await step(after)) ?? ''
    while (after !== '' && !signal.aborted)
  }
  return startLoop(name, intervalMs, tools, round, limits)
}
