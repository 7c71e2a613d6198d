import type { Log } from '../../shared/log.ts'
import type { Metrics } from '../../shared/metrics.ts'
import { monotonicMs, sleep } from './clock.ts'
import { jitterMs } from './ids.ts'

/** The handles every loop needs: where it logs and where it is counted. */
export type LoopTools = { log: Log; metrics: Metrics }

export type Loop = {
  /** Run the next round now instead of waiting; a wake during a round causes one more. */
  wake(): void
  /** Ends after the round that is under way; its signal is aborted at once. */
  stop(): Promise<void>
}

type Round = (signal: AbortSignal) => Promise<unknown>

/**
 * Calls `round` again and again, `intervalMs` (and a tenth of jitter) apart. A round that throws is our own fault or
 * an engine that is away: it is logged and counted, and the next one comes after the interval, at least a second.
 */
export function startLoop(name: string, intervalMs: number, tools: LoopTools, round: Round): Loop {
  const stopping = new AbortController()
  const meters = loopMeters(tools.metrics)
  let woken = false
  let interrupt: AbortController | null = null

  const run = async () => {
    while (!stopping.signal.aborted) {
      woken = false
      const failed = await runRound(name, tools.log, meters, () => round(stopping.signal))
      if (stopping.signal.aborted || (woken && !failed)) continue
      interrupt = new AbortController()
      await sleep(failed ? Math.max(1_000, intervalMs) : intervalMs + jitterMs(intervalMs / 10), interrupt.signal)
      interrupt = null
    }
  }
  const ended = run()
  return {
    wake() {
      woken = true
      interrupt?.abort()
    },
    async stop() {
      stopping.abort()
      interrupt?.abort()
      await ended
    },
  }
}

async function runRound(name: string, log: Log, meters: ReturnType<typeof loopMeters>, round: () => Promise<unknown>) {
  const startedMs = monotonicMs()
  try {
    await round()
    meters.rounds.inc({ loop: name, outcome: 'ok' })
    return false
  } catch (error) {
    log.error({ err: error, loop: name }, 'a round of a loop failed')
    meters.rounds.inc({ loop: name, outcome: 'failed' })
    return true
  } finally {
    meters.seconds.observe({ loop: name }, (monotonicMs() - startedMs) / 1_000)
  }
}

const METERS = new WeakMap<Metrics, ReturnType<typeof makeLoopMeters>>()

function loopMeters(metrics: Metrics) {
  const made = METERS.get(metrics) ?? makeLoopMeters(metrics)
  METERS.set(metrics, made)
  return made
}

function makeLoopMeters(metrics: Metrics) {
  return {
    rounds: metrics.counter('picket_loop_rounds_total', 'Rounds of the background loops', ['loop', 'outcome']),
    seconds: metrics.histogram('picket_loop_round_seconds', 'Length of a round', [0.001, 0.01, 0.1, 1, 10], ['loop']),
  }
}
