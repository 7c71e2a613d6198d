import type { Heartbeat } from '../../proto/gen/probe/v1/fleet.ts'
import type { Metrics } from '../../shared/process/metrics.ts'
import type { CheckCount } from './check-counters.ts'

/** What a probe tells of itself when it is scraped: a heartbeat, and what only its own counters know. */
export type ProbeMetrics = Omit<Heartbeat, 'seq'> & {
  checks: CheckCount[]
  assignments: number
  publishedResults: number
  lateResults: number
  isFleetLinked: boolean
  isNatsConnected: boolean
  /** failures are reported as doubted */
  isDoubting: boolean
  /** of chromium; null: not known, or there is none */
  sandboxWorks: boolean | null
}

/** Registers the probe's metrics. Returns what sets them all, just before they are rendered: a check costs nothing more. */
export function registerProbeMetrics(metrics: Metrics): (figures: ProbeMetrics) => void {
  const checks = metrics.counter('picket_probe_agent_checks_total', 'Checks that ended', ['type', 'outcome'])
  const startDelay = metrics.gauge(
    'picket_probe_agent_start_delay_seconds',
    'How late a check started at most since the scrape before',
  )
  const loopLag = metrics.gauge(
    'picket_probe_agent_loop_lag_seconds',
    'How long the event loop was held at most since the scrape before',
  )
  const running = metrics.gauge('picket_probe_agent_running_checks', 'Checks under way')
  const assignments = metrics.gauge('picket_probe_agent_assignments', 'Monitors that this probe checks')
  const spoolBytes = metrics.gauge('picket_probe_agent_spool_bytes', 'Size of the spool on disk')
  const spoolResults = metrics.gauge('picket_probe_agent_spool_results', 'Results that wait in the spool')
  const published = metrics.counter('picket_probe_agent_results_published_total', 'Results that JetStream took in time')
  const late = metrics.counter('picket_probe_agent_results_late_total', 'Results sent late, for history only')
  const dropped = metrics.counter('picket_probe_agent_results_dropped_total', 'Results that were lost')
  const clockOffset = metrics.gauge('picket_probe_agent_clock_offset_seconds', 'How far this clock is ahead')
  const fleet = metrics.gauge('picket_probe_agent_fleet_connected', '1 while linked to the control plane')
  const nats = metrics.gauge('picket_probe_agent_nats_connected', '1 while connected to NATS')
  const doubt = metrics.gauge('picket_probe_agent_in_doubt', '1 while many hosts began to fail at once')

  const sandbox = metrics.gauge(
    'picket_probe_agent_screenshot_sandbox',
    "1 while chromium's sandbox works, 0 without it",
  )

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
    // Unknown until a heartbeat was answered, which is not the same as none.
    if (figures.clockOffsetMs === undefined) clockOffset.remove()
    else clockOffset.set(figures.clockOffsetMs / 1000)
  }
}
