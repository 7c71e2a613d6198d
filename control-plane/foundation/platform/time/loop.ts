import type { Log } from '../../../../shared/process/log.ts'
import type { Metrics } from '../../../../shared/process/metrics.ts'
import { jitterMs } from '../ids.ts'
import { monotonicMs, sleep } from './clock.ts'
import { computeFirstDelayMs, sleepCoalesced } from './coalesced-timers.ts'
import { registerLoop } from './watchdog.ts'

/** The handles every loop needs: where it logs and where it is counted. */
export type LoopTools = { log: Log; metrics: Metrics }

export type Loop = {
  /** Run the next round now instead of waiting; a wake during a round causes one more. */
  wake(): void
  /** Ends after the round that is under way; its signal is aborted at once. */
  stop(): Promise<void>
}

type LoopRound = (signal: AbortSignal) => Promise<unknown>

export type LoopLimits = {
  /** The watching depends on it: when a round takes longer than its limit, the process is of no use and ends itself. */
  isCritical?: boolean
  /** how long a round may take; its signal is aborted after two thirds of it */
  limitMs?: number
}

export const CRITICAL: LoopLimits = { isCritical: true }

const ROUND_TIMEOUT_MS = 30_000
/** Loops of a longer interval start their rounds together (see beat.ts). */
const MIN_COALESCED_INTERVAL_MS = 1_000
/** The part of its limit after which a round should come to an end. */
const ABORT_AFTER_SHARE = 2 / 3

/**
 * Calls `round` again and again, about `intervalMs` apart (the second one up to 10 s sooner). A round that throws is a fault of Picket or
 * an engine that is away: it is logged and counted, and the next one comes after the interval, at least a second. The
 * signal of a round is aborted when the loop stops, and when the round should come to an end because of its limit; then
 * the next one follows at once. A round beyond its limit is logged and counted as late, and watched by the watchdog.
 */
export function startLoop(
  name: string,
  intervalMs: number,
  tools: LoopTools,
  round: LoopRound,
  { isCritical = false, limitMs = ROUND_TIMEOUT_MS }: LoopLimits = {},
): Loop {
  const stopping = new AbortController()
  const meters = getLoopMetrics(tools.metrics)
  const pulse = registerLoop(tools.metrics, { name, isCritical, limitMs })
  let woken = false
  let interrupt: AbortController | null = null
  let current = new AbortController()

  /** Answers what came of a round. */
  const runRound = async (): Promise<'ok' | 'failed'> => {
    const startedMs = monotonicMs()
    const mine = new AbortController()
    current = mine
    const hurry = setTimeout(() => {
      woken = true
      mine.abort()
    }, limitMs * ABORT_AFTER_SHARE)
    let isLate = false
    const late = setTimeout(() => {
      isLate = true
      tools.log.error({ loop: name, limitMs }, 'a round of a loop takes longer than it may')
      meters.rounds.inc({ loop: name, outcome: 'late' })
    }, limitMs)
    pulse.begin()
    let outcome: 'ok' | 'failed' = 'ok'
    try {
      await round(mine.signal)
    } catch (error) {
      tools.log.error({ err: error, loop: name }, 'a round of a loop failed')
      outcome = 'failed'
    }
    pulse.end()
    clearTimeout(hurry)
    clearTimeout(late)
    if (!isLate) meters.rounds.inc({ loop: name, outcome })
    meters.seconds.observe({ loop: name }, (monotonicMs() - startedMs) / 1_000)
    return outcome
  }

  const run = async () => {
    let nextMs = computeFirstDelayMs(intervalMs)
    while (!stopping.signal.aborted) {
      woken = false
      const isFailed = (await runRound()) === 'failed'
      if (stopping.signal.aborted || (woken && !isFailed)) continue
      interrupt = new AbortController()
      if (intervalMs < MIN_COALESCED_INTERVAL_MS && !isFailed)
        await sleep(intervalMs + jitterMs(intervalMs / 10), interrupt.signal)
      else await sleepCoalesced(isFailed ? Math.max(MIN_COALESCED_INTERVAL_MS, intervalMs) : nextMs, interrupt.signal)
      nextMs = intervalMs
      interrupt = null
    }
    pulse.unregister()
  }
  const ended = run()
  return {
    wake() {
      woken = true
      interrupt?.abort()
    },
    async stop() {
      stopping.abort()
      current.abort()
      interrupt?.abort()
      await ended
    },
  }
}

const METRICS_BY_REGISTRY = new WeakMap<Metrics, ReturnType<typeof createLoopMetrics>>()

function getLoopMetrics(metrics: Metrics) {
  const made = METRICS_BY_REGISTRY.get(metrics) ?? createLoopMetrics(metrics)
  METRICS_BY_REGISTRY.set(metrics, made)
  return made
}

function createLoopMetrics(metrics: Metrics) {
  return {
    rounds: metrics.counter('picket_loop_rounds_total', 'Rounds of the background loops', ['loop', 'outcome']),
    seconds: metrics.histogram('picket_loop_round_seconds', 'Length of a round', [0.001, 0.01, 0.1, 1, 10], ['loop']),
  }
}
