import type { Log } from '../../../../shared/process/log.ts'
import type { Metrics } from '../../../../shared/process/metrics.ts'
import { jitterMs } from '../ids.ts'
import { monotonicMs } from './clock.ts'
import { computeFirstDelayMs, setAlignedTimeout, setCoalescedTimeout } from './coalesced-timers.ts'
import { registerLoop } from './watchdog.ts'

/** What every loop needs for its logs and metrics. */
export type LoopTools = { log: Log; metrics: Metrics }

export type Loop = {
  /** Starts the next round now instead of waiting. A wake during a round causes one more round. */
  wake(): void
  /** Aborts the signal of the current round and resolves when that round has ended. */
  stop(): Promise<void>
}

type LoopRound = (signal: AbortSignal) => Promise<unknown>

export type LoopLimits = {
  /** Monitoring depends on it: when a round takes longer than its limit, the process exits (docs/design/loops.md#watchdog). */
  isCritical?: boolean
  /** the longest time of a round; its signal is aborted after two thirds of it */
  timeoutMs?: number
  /** the wait after a round that failed; defaults to the interval */
  retryMs?: number
  /** Rounds start together with those of other such loops, so that their questions become one statement (joined-reads.ts). */
  isAligned?: boolean
}

export const CRITICAL: LoopLimits = { isCritical: true }

/** For loops that mostly ask PostgreSQL whether anything is due. */
export const ALIGNED: LoopLimits = { isAligned: true }

const ROUND_TIMEOUT_MS = 30_000
/** Loops with a longer interval start their rounds together (coalesced-timers.ts). */
const MIN_COALESCED_INTERVAL_MS = 1_000
/** The share of its limit after which a round should end. */
const ABORT_AFTER_SHARE = 2 / 3

/**
 * Calls `round` repeatedly, about `intervalMs` apart (the second time up to 10 s sooner). A round that throws has met a bug
 * or an unreachable engine: it is logged and counted, and the next one follows after `retryMs`, at least one second
 * later. The signal of a round is aborted when the loop stops, and when the round approaches its limit; then the next one
 * follows immediately. A round beyond its limit is logged and counted as late, and the watchdog reports it.
 * See docs/design/loops.md#rounds.
 */
export function startLoop(
  name: string,
  intervalMs: number,
  tools: LoopTools,
  round: LoopRound,
  { isCritical = false, timeoutMs = ROUND_TIMEOUT_MS, retryMs = intervalMs, isAligned = false }: LoopLimits = {},
): Loop {
  const stopping = new AbortController()
  const loopMetrics = getLoopMetrics(tools.metrics)
  const registration = registerLoop(tools.metrics, { name, isCritical, timeoutMs })
  let woken = false
  const wait = createWait()
  let current = new AbortController()

  /** Runs one round and returns its outcome. */
  const runRound = async (): Promise<'ok' | 'failed'> => {
    const startedMs = monotonicMs()
    const controller = new AbortController()
    current = controller
    const abortTimer = setTimeout(() => {
      woken = true
      controller.abort()
    }, timeoutMs * ABORT_AFTER_SHARE)
    let isLate = false
    const lateTimer = setTimeout(() => {
      isLate = true
      tools.log.error({ loop: name, timeoutMs }, 'a round of a loop exceeded its time limit')
      loopMetrics.rounds.inc({ loop: name, outcome: 'late' })
    }, timeoutMs)
    registration.begin()
    let outcome: 'ok' | 'failed' = 'ok'
    try {
      await round(controller.signal)
    } catch (error) {
      tools.log.error({ err: error, loop: name }, 'a round of a loop failed')
      outcome = 'failed'
    }
    registration.end()
    clearTimeout(abortTimer)
    clearTimeout(lateTimer)
    if (!isLate) loopMetrics.rounds.inc({ loop: name, outcome })
    loopMetrics.seconds.observe({ loop: name }, (monotonicMs() - startedMs) / 1_000)
    return outcome
  }

  const run = async () => {
    let nextMs = computeFirstDelayMs(intervalMs)
    while (!stopping.signal.aborted) {
      woken = false
      const isFailed = (await runRound()) === 'failed'
      if (stopping.signal.aborted || (woken && !isFailed)) continue
      if (intervalMs < MIN_COALESCED_INTERVAL_MS && !isFailed)
        await wait.begin(intervalMs + jitterMs(intervalMs / 10), setExactTimeout)
      else if (isAligned && !isFailed) await wait.begin(intervalMs, setAlignedTimeout)
      else await wait.begin(isFailed ? Math.max(MIN_COALESCED_INTERVAL_MS, retryMs) : nextMs, setCoalescedTimeout)
      nextMs = intervalMs
    }
    registration.unregister()
  }
  const ended = run()
  return {
    wake() {
      woken = true
      wait.end()
    },
    async stop() {
      stopping.abort()
      current.abort()
      wait.end()
      await ended
    },
  }
}

type SetTimer = (ms: number, listener: () => void) => () => void

const setExactTimeout: SetTimer = (ms, listener) => {
  const timer = setTimeout(listener, ms)
  return () => clearTimeout(timer)
}

/** A wait that can be ended, without an AbortController: an idle process waits ten times a second. */
function createWait(): { begin(ms: number, setTimer: SetTimer): Promise<void>; end(): void } {
  let end = () => {}
  return {
    begin: (ms, setTimer) =>
      new Promise(resolve => {
        const cancel = setTimer(ms, resolve)
        end = () => {
          cancel()
          resolve()
        }
      }),
    end: () => end(),
  }
}

const METRICS_BY_REGISTRY = new WeakMap<Metrics, ReturnType<typeof createLoopMetrics>>()

function getLoopMetrics(metrics: Metrics) {
  const loopMetrics = METRICS_BY_REGISTRY.get(metrics) ?? createLoopMetrics(metrics)
  METRICS_BY_REGISTRY.set(metrics, loopMetrics)
  return loopMetrics
}

function createLoopMetrics(metrics: Metrics) {
  return {
    rounds: metrics.counter('picket_loop_rounds_total', 'Rounds of the background loops', ['loop', 'outcome']),
    seconds: metrics.histogram('picket_loop_round_seconds', 'Length of a round', [0.001, 0.01, 0.1, 1, 10], ['loop']),
  }
}
