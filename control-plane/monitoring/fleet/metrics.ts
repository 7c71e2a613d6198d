import type { Metrics } from '../../../shared/process/metrics.ts'
import { getOwnedMonitors } from './assignments/region-plan.ts'
import type { FleetContext } from './context.ts'
import type { StoredProbeHealth } from './sessions/messages.ts'
import type { ProbeSession } from './sessions/session.ts'

export function createFleetMetrics(metrics: Metrics) {
  return {
    probes: metrics.gauge('picket_fleet_probes', 'Probes connected to this process', ['region']),
    assignments: metrics.gauge('picket_fleet_assignments', 'Monitors assigned to probes of this process', ['region']),
    unassigned: metrics.gauge(
      'picket_fleet_unassigned_monitors',
      'Monitors of a region that no live probe of it can check',
      ['region'],
    ),
    epoch: metrics.gauge('picket_fleet_epoch', 'Epoch of the live set', ['region']),
    renewed: metrics.counter(
      'picket_fleet_epochs_renewed_total',
      'Epochs assigned because PostgreSQL was restored or replaced by a standby',
      ['region'],
    ),
    silence: metrics.gauge('picket_fleet_silence_seconds', 'Longest time since a heartbeat', ['region']),
    monitors: metrics.gauge('picket_fleet_monitors', 'Monitors in memory, including those that are not checked'),
    running: metrics.gauge('picket_probe_running_checks', 'Checks running on probes of this process', ['region']),
    startDelay: metrics.gauge(
      'picket_probe_start_delay_seconds',
      'Longest delay of the start of a check between the newest two heartbeats, over all probes of this process',
      ['region'],
    ),
    loopLag: metrics.gauge(
      'picket_probe_loop_lag_seconds',
      'Longest time an event loop was blocked between the newest two heartbeats, over all probes of this process',
      ['region'],
    ),
    spoolResults: metrics.gauge('picket_probe_spool_results', 'Results in the spools of probes', ['region']),
    spoolBytes: metrics.gauge('picket_probe_spool_bytes', 'Size of the spools of probes', ['region']),
    dropped: metrics.gauge('picket_probe_dropped_results', 'Results that probes lost since their start', ['region']),
    closed: metrics.counter('picket_fleet_links_closed_total', 'Probe sessions that ended', ['reason']),
    refused: metrics.counter('picket_fleet_connections_refused_total', 'Connections closed because of a limit', [
      'why',
    ]),
    lost: metrics.counter('picket_fleet_hints_lost_total', 'Hints that were not sent because a probe was too slow', [
      'what',
    ]),
  }
}

export type FleetMetrics = ReturnType<typeof createFleetMetrics>

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
    const sumOf = (field: keyof StoredProbeHealth) =>
      healths.reduce((sum, health) => sum + Number(health[field] ?? 0), 0)
    const maxOf = (field: keyof StoredProbeHealth) => Math.max(0, ...healths.map(health => Number(health[field] ?? 0)))
    running.set({ region }, sumOf('running'))
    spoolResults.set({ region }, sumOf('spool_results'))
    spoolBytes.set({ region }, sumOf('spool_bytes'))
    dropped.set({ region }, sumOf('dropped_results'))
    startDelay.set({ region }, maxOf('start_delay_ms') / 1_000)
    loopLag.set({ region }, maxOf('loop_lag_ms') / 1_000)
  }
}
