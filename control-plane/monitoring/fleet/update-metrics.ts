import { getOwnedMonitors } from './assignments/region-plan.ts'
import type { FleetContext } from './context.ts'
import type { FleetMetrics } from './metrics.ts'
import type { StoredProbeHealth } from './sessions/messages.ts'
import type { ProbeSession } from './sessions/session.ts'

/** Sets the gauges from the state of the process. `atMs` is monotonic. */
export function updateFleetMetrics({ assignments: table, sessions, metrics }: FleetContext, atMs: number): void {
  metrics.monitors.set(table.monitors.entries.size)
  for (const gauge of [metrics.probes, metrics.assignments, metrics.silence]) gauge.reset()
  updateProbeMetrics(metrics, [...sessions.values()])
  for (const [region, plan] of table.plans) {
    const own = [...sessions.values()].filter(session => session.region === region)
    metrics.epoch.set({ region }, plan.epoch)
    // an alert rule detects an increase only when the series exists before it
    metrics.renewed.inc({ region }, 0)
    metrics.unassigned.set({ region }, plan.unassigned.size)
    metrics.probes.set({ region }, own.length)
    metrics.assignments.set(
      { region },
      own.reduce((sum, session) => sum + getOwnedMonitors(plan, session.probeId).size, 0),
    )
    metrics.silence.set({ region }, Math.max(0, ...own.map(session => atMs - session.lastMessageMs)) / 1_000)
  }
}

/** Sets the gauges that probes report in their heartbeats, by region. */
function updateProbeMetrics(metrics: FleetMetrics, sessions: ProbeSession[]): void {
  const { running, spoolResults, spoolBytes, dropped, startDelay, loopLag } = metrics
  for (const gauge of [running, spoolResults, spoolBytes, dropped, startDelay, loopLag]) gauge.reset()
  for (const region of new Set(sessions.map(session => session.region))) {
    const healths = sessions.flatMap(session => (session.region === region && session.health ? [session.health] : []))
    const computeSum = (field: keyof StoredProbeHealth) =>
      healths.reduce((sum, health) => sum + Number(health[field] ?? 0), 0)
    const findMax = (field: keyof StoredProbeHealth) =>
      Math.max(0, ...healths.map(health => Number(health[field] ?? 0)))
    running.set({ region }, computeSum('running'))
    spoolResults.set({ region }, computeSum('spool_results'))
    spoolBytes.set({ region }, computeSum('spool_bytes'))
    dropped.set({ region }, computeSum('dropped_results'))
    startDelay.set({ region }, findMax('start_delay_ms') / 1_000)
    loopLag.set({ region }, findMax('loop_lag_ms') / 1_000)
  }
}
