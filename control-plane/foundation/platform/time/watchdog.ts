import type { Metrics } from '../../../../shared/process/metrics.ts'
import { monotonicMs } from './clock.ts'
import { setCoalescedTimeout } from './coalesced-timers.ts'

/** What a loop says of its rounds. */
export type LoopRegistration = {
  begin(): void
  end(): void
  /** The loop has stopped. */
  unregister(): void
}

export type Watchdog = {
  /** Names of critical loops whose round takes longer than its limit. */
  stuck(): string[]
  stop(): void
}

type RegisteredLoop = { name: string; isCritical: boolean; limitMs: number; beganMs: number | null }

/** `clockMs` goes on only while the watchdog looks: time in which the process or its machine stood still does not count. */
type Registry = { loops: Set<RegisteredLoop>; clockMs: number; age: ReturnType<typeof createAgeGauge> }

const CHECK_INTERVAL_MS = 1_000
/** Of a longer gap between two looks only so much counts. */
const MAX_GAP_MS = 2 * CHECK_INTERVAL_MS

const REGISTRIES = new WeakMap<Metrics, Registry>()

/** Makes a loop known to the watchdog of its process. */
export function registerLoop(
  metrics: Metrics,
  loop: { name: string; isCritical: boolean; limitMs: number },
): LoopRegistration {
  const registry = getRegistry(metrics)
  const watched: RegisteredLoop = { ...loop, beganMs: null }
  registry.loops.add(watched)
  return {
    begin() {
      watched.beganMs = registry.clockMs
    },
    end() {
      watched.beganMs = null
    },
    unregister() {
      registry.loops.delete(watched)
      registry.age.remove({ loop: loop.name })
    },
  }
}

/**
 * Looks every second whether each loop gets on with its round, and calls `onStuck` once, when a critical one does not
 * within its limit. A round that ends with an error has ended. `longestMs`: a shorter limit for all of them.
 */
export function startWatchdog(
  metrics: Metrics,
  onStuck: (loops: string[]) => void,
  longestMs = Number.POSITIVE_INFINITY,
): Watchdog {
  const registry = getRegistry(metrics)
  let lookedMs = monotonicMs()
  let isReported = false
  const stuck = () =>
    [...registry.loops]
      .filter(loop => loop.isCritical && computeAgeMs(registry, loop) > Math.min(loop.limitMs, longestMs))
      .map(({ name }) => name)
  const look = () => {
    cancel = setCoalescedTimeout(CHECK_INTERVAL_MS, look)
    const nowMs = monotonicMs()
    registry.clockMs += Math.min(nowMs - lookedMs, MAX_GAP_MS)
    lookedMs = nowMs
    const found = isReported ? [] : stuck()
    if (found.length === 0) return
    isReported = true
    onStuck(found)
  }
  let cancel = setCoalescedTimeout(CHECK_INTERVAL_MS, look)
  return { stuck, stop: () => cancel() }
}

const computeAgeMs = ({ clockMs }: Registry, { beganMs }: RegisteredLoop): number =>
  beganMs === null ? 0 : clockMs - beganMs

function getRegistry(metrics: Metrics): Registry {
  const known = REGISTRIES.get(metrics)
  if (known) return known
  const made: Registry = { loops: new Set(), clockMs: 0, age: createAgeGauge(metrics) }
  metrics.beforeRender(() => {
    for (const loop of made.loops) made.age.set({ loop: loop.name }, computeAgeMs(made, loop) / 1_000)
  })
  REGISTRIES.set(metrics, made)
  return made
}

function createAgeGauge(metrics: Metrics) {
  return metrics.gauge('picket_loop_round_age_seconds', 'Age of the round under way; 0 between rounds', ['loop'])
}
