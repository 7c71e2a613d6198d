import type { Heartbeat } from '../../proto/gen/probe/v1/fleet.ts'
import type { Metrics } from '../../shared/process/metrics.ts'
import type { CheckCount } from './check-counters.ts'

/** The values of a scrape: those of a heartbeat, and the probe's own counters. */
export type ProbeMetrics = Omit<Heartbeat, 'seq'> & {
  checks: CheckCount[]
  assignments: number
  publishedResults: number
  lateResults: number
  isFleetLinked: boolean
  isNatsConnected: boolean
  /** failures are reported as doubted */
  isDoubting: boolean
  /** of Chromium; null: unknown, or no browser */
  sandboxWorks: boolean | null
}

/** Registers the probe's metrics. Returns a function that sets all of them before a scrape, so checks have no extra cost. */
export function registerProbeMetrics(metrics: Metrics): (figures: ProbeMetrics) => void {
  const checks = metrics.counter('picket_probe_agent_checks_total', 'Finished checks', ['type', 'outcome'])
  const startDelay = metrics.gauge(
    'picket_probe_agent_start_delay_seconds',
    'Maximum delay of a check start since the previous scrape',
  )
  const loopLag = metrics.gauge(
    'picket_probe_agent_loop_lag_seconds',
    'Maximum delay of the event loop since the previous scrape',
  )
  const running = metrics.gauge('picket_probe_agent_running_checks', 'Checks in flight')
  const assignments = metrics.gauge('picket_probe_agent_assignments', 'Monitors assigned to this probe')
  const spoolBytes = metrics.gauge('picket_probe_agent_spool_bytes', 'Size of the spool on disk')
  const spoolResults = metrics.gauge('picket_probe_agent_spool_results', 'Results waiting in the spool')
  const published = metrics.counter('picket_probe_agent_results_published_total', 'Results stored by JetStream in time')
  const late = metrics.counter(
    'picket_probe_agent_results_late_total',
    'Results sent too late for the verdict, for the history only',
  )
  const dropped = metrics.counter('picket_probe_agent_results_dropped_total', 'Lost results')
  const clockOffset = metrics.gauge(
    'picket_probe_agent_clock_offset_seconds',
    'Offset of the machine clock from the clock of the control plane',
  )
  const fleet = metrics.gauge('picket_probe_agent_fleet_connected', '1 while connected to the control plane')
  const nats = metrics.gauge('picket_probe_agent_nats_connected', '1 while connected to NATS')
  const doubt = metrics.gauge('picket_probe_agent_in_doubt', '1 while failures are reported as doubted')

  const sandbox = metrics.gauge('picket_probe_agent_screenshot_sandbox', "1 while Chromium's sandbox works, else 0")

  return figures => {
    checks.reset()
    for (const { checks: count, ...labels } of figures.checks) checks.inc(labels, count)
    for (const [counter, total] of [
      [published, figures.publishedResults],
      [late, figures.lateResults],
      [dropped, figures.droppedResults],
    ] as const) {
      counter.reset()
      counter.inc(total)
    }
    startDelay.set((figures.startDelayMs ?? 0) / 1000)
    loopLag.set(figures.loopLagMs / 1000)
    running.set(figures.running)
    assignments.set(figures.assignments)
    spoolBytes.set(figures.spoolBytes)
    spoolResults.set(figures.spoolResults ?? 0)
    fleet.set(Number(figures.isFleetLinked))
    nats.set(Number(figures.isNatsConnected))
    doubt.set(Number(figures.isDoubting))
    if (figures.sandboxWorks === null) sandbox.remove()
    else sandbox.set(Number(figures.sandboxWorks))
    // Unknown until the first heartbeat is answered.
    if (figures.clockOffsetMs === undefined) clockOffset.remove()
    else clockOffset.set(figures.clockOffsetMs / 1000)
  }
}
