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
      'Epochs given out because PostgreSQL was restored or replaced by a standby',
      ['region'],
    ),
    silence: metrics.gauge('picket_fleet_silence_seconds', 'Longest time since a heartbeat', ['region']),
    monitors: metrics.gauge('picket_fleet_monitors', 'Monitors known, those not checked too'),
    running: metrics.gauge('picket_probe_running_checks', 'Checks under way on probes of this process', ['region']),
    startDelay: metrics.gauge(
      'picket_probe_start_delay_seconds',
      'How late a check started at most between the newest two heartbeats, of all probes of this process',
      ['region'],
    ),
    loopLag: metrics.gauge(
      'picket_probe_loop_lag_seconds',
      'How long an event loop was held at most between the newest two heartbeats, of all probes of this process',
      ['region'],
    ),
    spoolResults: metrics.gauge('picket_probe_spool_results', 'Results that wait on disks of probes', ['region']),
    spoolBytes: metrics.gauge('picket_probe_spool_bytes', 'Size of the spools of probes', ['region']),
    dropped: metrics.gauge('picket_probe_dropped_results', 'Results that probes lost since their start', ['region']),
    closed: metrics.counter('picket_fleet_links_closed_total', 'Links to probes that ended', ['reason']),
    refused: metrics.counter('picket_fleet_connections_refused_total', 'Connections closed because of a limit', [
      'why',
    ]),
    lost: metrics.counter('picket_fleet_hints_lost_total', 'Hints that a slow probe was not told', ['what']),
  }
}

export type FleetMetrics = ReturnType<typeof createFleetMetrics>
