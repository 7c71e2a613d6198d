import { type Loop, type LoopLimits, type LoopTools, startLoop } from './loop.ts'

/** Works on the next rows after an id, '' for the first ones; answers the id to go on after, null after the last row. */
export type BatchStep = (after: string) => Promise<string | null>

/** A loop that goes through a table in portions, see startLoop. Where a round has to end early, the next one goes on. */
export function startBatchLoop(
  name: string,
  intervalMs: number,
  tools: LoopTools,
  portion: BatchStep,
  limits: LoopLimits = {},
): Loop {
  let after = ''
  const round = async (signal: AbortSignal) => {
    do after = (await portion(after)) ?? ''
    while (after !== '' && !signal.aborted)
  }
  return startLoop(name, intervalMs, tools, round, limits)
}
