import type { SimulatedInstallation } from './installation.ts'
import { type ProbeEnvironment, type ProbeProcess, startProbeProcess } from './probe.ts'
import { newUuid } from './time.ts'

export type Probes = {
  /** Ends the process of a probe, and starts it again after `forMs`. */
  end: (name: string, forMs: number, isSilent: boolean) => void
  freeze: (name: string, forMs: number) => void
  /** Drains the process and starts a new one. */
  redeploy: (name: string) => void
}

/** One-way latency from each region to the control plane, in ms. */
const LATENCIES_MS = [1, 35, 45, 48, 110, 90]
const REDEPLOY_MS = 4_000

export function createProbes({
  installation,
  ...parts
}: ProbeEnvironment & { installation: SimulatedInstallation }): Probes {
  const { time, random } = parts
  const running = new Map<string, ProbeProcess>()
  const ids = new Map<string, string>()
  const regions = new Map<string, string>()
  /** A probe that was ended by two faults starts after the later one. */
  const downUntilMs = new Map<string, number>()

  function start(name: string): void {
    if (running.has(name) || (downUntilMs.get(name) ?? 0) > time.nowMs()) return
    const region = regions.get(name)!
    const latencyMs = LATENCIES_MS[installation.regions.indexOf(region)]!
    running.set(name, startProbeProcess({ ...parts, name, probeId: ids.get(name)!, region, latencyMs }))
  }

  function startIn(name: string, ms: number): void {
    downUntilMs.set(name, Math.max(downUntilMs.get(name) ?? 0, time.nowMs() + ms))
    time.after(ms, () => start(name))
  }

  for (const region of installation.regions)
    for (const name of installation.listProbes(region)) {
      ids.set(name, newUuid(random))
      regions.set(name, region)
      start(name)
    }

  return {
    end(name, forMs, isSilent) {
      running.get(name)?.end(isSilent)
      running.delete(name)
      startIn(name, forMs)
    },
    freeze(name, forMs) {
      running.get(name)?.host.freeze(time.nowMs() + forMs)
    },
    redeploy(name) {
      const process = running.get(name)
      process?.drain(() => {
        if (running.get(name) !== process) return
        running.delete(name)
        startIn(name, REDEPLOY_MS)
      })
    },
  }
}
