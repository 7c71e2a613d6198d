import type { Log } from '../../../../shared/process/log.ts'
import type { Metrics } from '../../../../shared/process/metrics.ts'
import { monotonicMs, withTimeout } from './clock.ts'
import { setCoalescedTimeout } from './coalesced-timers.ts'

/** A loop reports the beginning and end of its rounds. */
type LoopRegistration = {
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

type RegisteredLoop = { name: string; isCritical: boolean; timeoutMs: number; beganMs: number | null }

/** `clockMs` advances only while the watchdog checks: time in which the process or its machine was suspended does not count. */
type Registry = { loops: Set<RegisteredLoop>; clockMs: number; age: ReturnType<typeof createAgeGauge> }

const CHECK_INTERVAL_MS = 1_000
/** A longer gap between two checks counts as this long, so that a process without processor time has as many turns as others. */
const MAX_GAP_MS = 1.25 * CHECK_INTERVAL_MS
/** A stuck process has this long to release its leases and connections. */
const STUCK_STOP_TIMEOUT_MS = 3_000

const REGISTRIES = new WeakMap<Metrics, Registry>()

/** Registers a loop with the watchdog of its process. */
export function registerLoop(
  metrics: Metrics,
  loop: { name: string; isCritical: boolean; timeoutMs: number },
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
 * Checks the current round of each loop every second, and calls `onStuck` once when a critical one exceeds its limit. A
 * round that ends with an error has ended. `maxRoundMs`: a shorter limit for all loops. See docs/design/loops.md#watchdog.
 */
export function startWatchdog(
  metrics: Metrics,
  onStuck: (loops: string[]) => void,
  maxRoundMs = Number.POSITIVE_INFINITY,
): Watchdog {
  const registry = getRegistry(metrics)
  let checkedMs = monotonicMs()
  let isReported = false
  const stuck = () =>
    [...registry.loops]
      .filter(loop => loop.isCritical && computeAgeMs(registry, loop) > Math.min(loop.timeoutMs, maxRoundMs))
      .map(({ name }) => name)
  const check = () => {
    cancel = setCoalescedTimeout(CHECK_INTERVAL_MS, check)
    const nowMs = monotonicMs()
    registry.clockMs += Math.min(nowMs - checkedMs, MAX_GAP_MS)
    checkedMs = nowMs
    const found = isReported ? [] : stuck()
    if (found.length === 0) return
    isReported = true
    onStuck(found)
  }
  let cancel = setCoalescedTimeout(CHECK_INTERVAL_MS, check)
  return { stuck, stop: () => cancel() }
}

const computeAgeMs = ({ clockMs }: Registry, { beganMs }: RegisteredLoop): number =>
  beganMs === null ? 0 : clockMs - beganMs

function getRegistry(metrics: Metrics): Registry {
  const known = REGISTRIES.get(metrics)
  if (known) return known
  const registry: Registry = { loops: new Set(), clockMs: 0, age: createAgeGauge(metrics) }
  metrics.beforeRender(() => {
    for (const loop of registry.loops) registry.age.set({ loop: loop.name }, computeAgeMs(registry, loop) / 1_000)
  })
  REGISTRIES.set(metrics, registry)
  return registry
}

function createAgeGauge(metrics: Metrics) {
  return metrics.gauge('picket_loop_round_age_seconds', 'Age of the round under way; 0 between rounds', ['loop'])
}

/** Stops a process with stuck loops within a few seconds. Its supervisor restarts it. */
export async function shutDownStuck(loops: string[], stop: () => Promise<void>, log: Log): Promise<void> {
  log.fatal({ event: 'stuck', loops }, 'a critical loop is stuck: this process exits')
  await withTimeout(stop(), STUCK_STOP_TIMEOUT_MS)
}
