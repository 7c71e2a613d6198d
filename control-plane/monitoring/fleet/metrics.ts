import type { Metrics } from '../../../shared/process/metrics.ts'

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
    callsRefused: metrics.counter(
      'picket_fleet_calls_refused_total',
      'Calls of unknown probes that were refused without a look-up of their credentials',
      ['why'],
    ),
    lost: metrics.counter('picket_fleet_hints_lost_total', 'Hints that were not sent because a probe was too slow', [
      'what',
    ]),
  }
}

export type FleetMetrics = ReturnType<typeof createFleetMetrics>
