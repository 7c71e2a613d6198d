import t from 'tap'
import { createCheckCounters } from '../../../probe-agent/health/check-counters.ts'
import { type ProbeMetrics, registerProbeMetrics } from '../../../probe-agent/health/metrics.ts'
import { Outcome } from '../../../shared/checks/result.ts'
import { createMetrics } from '../../../shared/process/metrics.ts'

const FIGURES: ProbeMetrics = {
  running: 3,
  waiting: 0,
  loopLagMs: 12,
  startDelayMs: 7,
  spoolBytes: 2048,
  spoolResults: 5,
  droppedResults: 1,
  runningLimit: 1000,
  clockOffsetMs: -1500,
  connectivityOk: true,
  checks: [],
  assignments: 40,
  publishedResults: 90,
  lateResults: 6,
  isFleetLinked: true,
  isNatsConnected: false,
  isDoubting: false,
  sandboxWorks: false,
}

async function ownMetrics(metrics: ReturnType<typeof createMetrics>): Promise<string[]> {
  const { text } = await metrics.render()
  const lines = text.split('\n').filter(line => line.startsWith('picket_'))
  return lines.map(line => line.replace('picket_probe_agent_', '')).sort()
}

t.test('A scrape shows the counters of the probe, and repeated scrapes do not change totals', async t => {
  const metrics = createMetrics()
  const set = registerProbeMetrics(metrics)
  const tally = createCheckCounters()
  for (const outcome of [Outcome.UP, Outcome.UP, Outcome.UNKNOWN]) tally.count('http', outcome)
  tally.count('ping', Outcome.DOWN)
  set({ ...FIGURES, checks: tally.list() })
  set({ ...FIGURES, checks: tally.list() })
  t.same(await ownMetrics(metrics), [
    'assignments 40',
    'checks_total{type="http",outcome="unknown"} 1',
    'checks_total{type="http",outcome="up"} 2',
    'checks_total{type="ping",outcome="down"} 1',
    'clock_offset_seconds -1.5',
    'fleet_connected 1',
    'in_doubt 0',
    'loop_lag_seconds 0.012',
    'nats_connected 0',
    'results_dropped_total 1',
    'results_late_total 6',
    'results_published_total 90',
    'running_checks 3',
    'screenshot_sandbox 0',
    'spool_bytes 2048',
    'spool_results 5',
    'start_delay_seconds 0.007',
  ])
})

t.test('An unknown clock offset is not shown', async t => {
  const metrics = createMetrics()
  const set = registerProbeMetrics(metrics)
  set({ ...FIGURES, clockOffsetMs: undefined })
  const offsets = async () => (await ownMetrics(metrics)).filter(line => line.startsWith('clock'))
  t.same(await offsets(), [])
  set({ ...FIGURES, clockOffsetMs: 0 })
  t.same(await offsets(), ['clock_offset_seconds 0'])
})
