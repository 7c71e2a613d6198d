import { REGIONS } from '../../../shared/checks/check.ts'
import type { Metrics } from '../../../shared/process/metrics.ts'
import { initializeCounter } from '../../../shared/process/zero-counters.ts'
import type { VerdictChange } from '../core/decision-actions.ts'
import type { BatchEffects } from './counting/batch-effects.ts'

export type VerdictMetrics = ReturnType<typeof createVerdictMetrics>

/** The metrics of the role `verdict`. */
export function createVerdictMetrics(metrics: Metrics) {
  const setAside = metrics.counter('picket_verdict_set_aside_total', 'Messages and results that could not be read', [
    'what',
  ])
  const ofRegions = metrics.counter(
    'picket_verdict_region_results_total',
    'Results read, by region and what became of them',
    ['region', 'kind'],
  )
  // an alert detects the first one, also when it is the first result of its region in this process
  for (const region of REGIONS) ofRegions.inc({ region, kind: 'refused_epoch' }, 0)
  return {
    results: metrics.counter('picket_verdict_results_total', 'Results read, by what became of them', ['kind']),
    ofRegions,
    setAside: initializeCounter(setAside, 'what', ['message', 'result', 'decision']),
    doubted: metrics.counter(
      'picket_verdict_doubted_results_total',
      'Failures that many hosts of a probe began to have at the same time',
      ['region'],
    ),
    witnesses: metrics.counter(
      'picket_verdict_witnesses_asked_total',
      'Requests to other regions to confirm doubted failures',
    ),
    transitions: metrics.counter('picket_verdict_transitions_total', 'Status changes of monitors', ['status']),
    discarded: metrics.counter(
      'picket_verdict_discarded_total',
      'Discarded decisions about monitors that were changed in the meantime',
    ),
    disagreements: metrics.counter('picket_verdict_disagreements_total', 'Probes of a region contradicting each other'),
    applySeconds: metrics.histogram(
      'picket_verdict_judge_seconds',
      'Duration of the transaction that applies decisions',
      BUCKETS,
    ),
    gaps: metrics.counter(
      'picket_verdict_gaps_total',
      'Starts of a reader at which messages had left the stream unread',
    ),
    restarts: metrics.counter(
      'picket_verdict_partition_restarts_total',
      'Steps of partition readers that failed and were repeated',
    ),
    lag: metrics.gauge('picket_verdict_lag_messages', 'Messages behind the newest of a partition', ['partition']),
    lagSeconds: metrics.gauge('picket_verdict_lag_seconds', 'Time behind the newest message of a partition', [
      'partition',
    ]),
    held: metrics.gauge(
      'picket_verdict_held_monitors',
      'Monitors that keep their status because too few regions vote',
      ['partition'],
    ),
    recalled: metrics.counter('picket_verdict_recalled_total', 'Results read again at the start of a reader'),
    checkpointsFailed: metrics.counter(
      'picket_verdict_checkpoints_failed_total',
      'Checkpoints that could not be stored',
    ),
    watched: metrics.gauge('picket_verdict_watched_monitors', 'Monitors in memory', ['partition']),
    lookedFor: metrics.counter('picket_verdict_looked_for_total', 'Monitors read from PostgreSQL again'),
    unstored: metrics.gauge('picket_verdict_unstored_monitors', 'Monitors whose state is not stored yet', [
      'partition',
    ]),
    deferred: metrics.gauge('picket_verdict_deferred_monitors', 'Monitors whose changes wait for locked rows', [
      'partition',
    ]),
    unchecked: metrics.counter(
      'picket_verdict_unchecked_total',
      'Monitors that lost their status because no check counts',
    ),
    owned: metrics.gauge('picket_verdict_partitions_owned', 'Partitions that this process reads'),
  }
}

const BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

/** To be called once for the effects of a run of results. */
export function recordEffects(metrics: VerdictMetrics, { countsByRegion, doubted, replayed }: BatchEffects): void {
  if (replayed > 0) metrics.recalled.inc(replayed)
  for (const [region, count] of doubted) metrics.doubted.inc({ region }, count)
  for (const [region, kinds] of countsByRegion) {
    for (const [kind, count] of Object.entries(kinds)) {
      metrics.results.inc({ kind }, count)
      metrics.ofRegions.inc({ region, kind }, count)
    }
  }
}

export function recordTransitions(metrics: VerdictMetrics, changes: VerdictChange[], without: Set<string>): void {
  for (const { monitorId, transitions } of changes) {
    if (!without.has(monitorId)) for (const { to } of transitions) metrics.transitions.inc({ status: to })
  }
}
