/** Series of a healthy installation, and the fault that each alert rule detects; for `promtool test rules`. */
import {
  ASSIGNED,
  at,
  control,
  firstAttempt,
  GIB,
  guarantees,
  kinds,
  LOST,
  LOST_OF_SECOND,
  lag,
  loop,
  OTHER_FINDINGS,
  OWNED,
  outcomes,
  POSTGRES_FINDINGS,
  pool,
  probe,
  RESULTS,
  requests,
  rounds,
  type Series,
  stream,
  type Values,
} from './alert-series.ts'

const STEP_S = 30
/** The default of Prometheus. */
const EVALUATION_S = 60
/** A fault begins after 15 minutes. */
const BEGIN = (15 * 60) / STEP_S
const AFTER = (45 * 60) / STEP_S

/** Values: a constant, also only a minute later, or an increase of `{ by }` in 15 seconds. */

export const HEALTHY: Series = {
  [at('picket', 'up')]: 1,
  [at('picket-probe', 'up')]: 1,
  [control('process_start_time_seconds')]: -86_400,
  [probe('process_start_time_seconds')]: -86_400,
  [control('picket_region_live_probes', 'region="us-east"')]: 2,
  [control('picket_fleet_unassigned_monitors', 'region="us-east"')]: 0,
  [ASSIGNED]: 400,
  [probe('picket_probe_agent_fleet_connected')]: 1,
  [probe('picket_probe_agent_results_dropped_total')]: 0,
  [control('picket_probe_spool_results', 'region="us-east"')]: 0,
  [LOST]: 12,
  [LOST_OF_SECOND]: 5,
  [OWNED]: 16,
  [lag(0)]: 0.4,
  [lag(1)]: 4,
  [control('picket_verdict_partition_restarts_total')]: 2,
  [control('picket_verdict_held_monitors', 'partition="0"')]: 0,
  [control('picket_verdict_set_aside_total', 'what="message"')]: 0,
  [RESULTS]: { by: 200 },
  [kinds('counted')]: { by: 195 },
  [kinds('history')]: { by: 5 },
  [kinds('refused_future')]: 0,
  [kinds('refused_epoch')]: 0,
  [kinds('refused_probe')]: 0,
  [control('picket_foreign_reports_total', 'region="us-east",what="result"')]: 0,
  [control('picket_fleet_epochs_renewed_total', 'region="us-east"')]: 0,
  [control('picket_verdict_doubted_results_total', 'region="us-east"')]: 9,
  [control('picket_verdict_gaps_total')]: 1,
  [control('picket_verdict_checkpoints_failed_total')]: 0,
  [control('picket_verdict_deferred_monitors', 'partition="0"')]: 0,
  [stream('picket_results_recorded_total', 'RESULTS')]: { by: 200 },
  [control('picket_results_late_total', 'region="us-east"')]: 300,
  [control('picket_results_unrecordable_total', 'reason="refused"')]: 0,
  [stream('picket_history_waiting_seconds', 'RESULTS')]: 2,
  // it is always full, and the oldest messages are removed
  [stream('picket_stream_bytes', 'RESULTS')]: 15.9 * GIB,
  [stream('picket_stream_max_bytes', 'RESULTS')]: 16 * GIB,
  [stream('picket_stream_bytes', 'PINGS')]: 0,
  [stream('picket_stream_max_bytes', 'PINGS')]: GIB / 4,
  [stream('picket_stream_last_sequence', 'RESULTS')]: { by: 40 },
  [firstAttempt('1')]: { by: 3 },
  [firstAttempt('10')]: { by: 3 },
  [firstAttempt('+Inf')]: { by: 3 },
  [control('picket_delivery_attempts_total', 'status="delivered"')]: { by: 3 },
  [control('picket_delivery_attempts_total', 'status="failed"')]: 0,
  [control('picket_delivery_own_faults_total', 'fault="network"')]: 4,
  [control('picket_deliveries_due_seconds')]: 0.2,
  [control('picket_fan_outs_waiting_seconds')]: 0,
  [outcomes('us-east', 'missed')]: 0,
  [outcomes('us-east', 'late')]: 0,
  [guarantees('missed')]: 0,
  [control('picket_account_mails_total', 'outcome="lost"')]: 0,
  [rounds('verdict-ownership')]: { by: 10 },
  [rounds('digests')]: { by: 1 },
  [rounds('digests', 'failed')]: 0,
  [loop('picket_loop_round_age_seconds', 'record')]: 20,
  [pool('picket_postgres_pool_size')]: 8,
  [pool('picket_postgres_pool_connections', ',state="in_use"')]: 2,
  [pool('picket_postgres_pool_waiting')]: 0,
  [requests(200)]: { by: 100 },
  [requests(503)]: 4,
  [control('nodejs_eventloop_lag_p99_seconds')]: 0.02,
  [control('picket_clock_disagreement_seconds', 'with="nats"')]: -0.2,
  [control('picket_clock_steps_total', 'of="nats"')]: 0,
  [control('picket_heartbeat_pings_kept_total', 'outcome="kept"')]: 7,
  [control('picket_heartbeat_pings_kept_total', 'outcome="refused"')]: 0,
  [POSTGRES_FINDINGS]: 0,
  [OTHER_FINDINGS]: 0,
}

/** `series` are the values from the beginning of the fault; exactly `alerts` fire `minutes` later. */
type Case = { fault: string; series: Series; minutes: number; alerts: string[] }

const one = (alert: string, minutes: number, fault: string, series: Series): Case => ({
  ...{ fault, series, minutes, alerts: [alert] },
})

export const CASES: Case[] = [
  one('PicketProcessDown', 2, 'a process does not answer', { [at('picket', 'up')]: 0 }),
  one('PicketRegionWithoutProbe', 2, 'the last probe of a region goes', {
    [control('picket_region_live_probes', 'region="us-east"')]: 0,
  }),
  one('PicketMonitorsWithoutProbe', 6, 'no probe can check some monitors', {
    [control('picket_fleet_unassigned_monitors', 'region="us-east"')]: 5,
  }),
  one('PicketProbeCutOff', 6, 'a probe has lost the fleet', { [probe('picket_probe_agent_fleet_connected')]: 0 }),
  one('PicketRegionInDoubt', 8, 'many hosts of a region begin to fail together', {
    [control('picket_verdict_doubted_results_total', 'region="us-east"')]: { by: 5 },
  }),
  one('PicketProbeLosesResults', 2, 'a probe drops results', {
    [probe('picket_probe_agent_results_dropped_total')]: { by: 4 },
  }),
  one('PicketRegionCannotPublish', 3, 'probes of a region keep their results', {
    [control('picket_probe_spool_results', 'region="us-east"')]: { by: 100 },
  }),
  one('PicketRegionLosesResults', 2, 'the spool of a probe is full', {
    [LOST]: { by: 100 },
  }),
  one('PicketRegionLosesResults', 2, 'a probe loses one result', { [LOST]: 13 }),
  ...[2, 4, 12].map(minutes => ({
    ...{ fault: 'a probe changes its control plane within a minute', minutes, alerts: [] },
    series: { [LOST]: 0, [LOST_OF_SECOND]: { aMinuteLater: 17 } },
  })),
  one('PicketRegionSilent', 21, 'connected probes of one region publish nothing, those of another do', {
    [kinds('counted')]: 0,
    [kinds('history')]: 0,
  }),
  one('PicketPartitionsWithoutOwner', 2, 'a process that read half of the partitions ends', { [OWNED]: 8 }),
  one('PicketPartitionsWithoutOwner', 4, 'no process reads partitions', { [OWNED]: 'gone' }),
  one('PicketPostgresUnusable', 3, 'PostgreSQL is set to be read-only', { [POSTGRES_FINDINGS]: 1 }),
  {
    ...{ fault: 'PostgreSQL is away', minutes: 4 },
    series: { [POSTGRES_FINDINGS]: 1, [OWNED]: 0 },
    alerts: ['PicketPartitionsWithoutOwner', 'PicketPostgresUnusable'],
  },
  one('PicketPartitionStopped', 2, 'the position of a partition does not move while results arrive', {
    [lag(1)]: { by: 15 },
  }),
  one('PicketVerdictBehind', 4, 'a partition is behind and does not catch up', { [lag(1)]: 90 }),
  one('PicketNothingDecided', 3, 'results arrive and nothing is decided', { [RESULTS]: 0 }),
  one('PicketPartitionRestarts', 3, 'partitions fail again and again', {
    [control('picket_verdict_partition_restarts_total')]: { by: 1 },
  }),
  one('PicketMonitorsHeld', 11, 'monitors are held', { [control('picket_verdict_held_monitors', 'partition="0"')]: 3 }),
  one('PicketResultsUnreadable', 2, 'messages cannot be read', {
    [control('picket_verdict_set_aside_total', 'what="message"')]: { by: 1 },
  }),
  one('PicketResultsRefused', 4, 'results of a region are from the future', { [kinds('refused_future')]: { by: 20 } }),
  one('PicketResultsHistoryOnly', 12, 'half of the results of a region decide nothing', {
    [kinds('history')]: { by: 195 },
  }),
  one('PicketRegionDecidesNothing', 3, 'three quarters of the results of a region are history', {
    [kinds('history')]: { by: 600 },
  }),
  one('PicketEpochsForged', 2, 'a probe invents an epoch', { [kinds('refused_epoch')]: { by: 1 } }),
  one('PicketForeignReports', 2, 'a probe reports for another region', {
    [control('picket_foreign_reports_total', 'region="us-east",what="result"')]: { by: 1 },
  }),
  one('PicketResultsOfOtherProbes', 13, 'a probe without work publishes', { [kinds('refused_probe')]: { by: 1 } }),
  one('PicketEpochsRenewed', 2, 'PostgreSQL was restored', {
    [control('picket_fleet_epochs_renewed_total', 'region="us-east"')]: { by: 1 },
  }),
  one('PicketResultsLate', 8, 'results of a region come late', {
    [control('picket_results_late_total', 'region="us-east"')]: { by: 10 },
  }),
  one('PicketVerdictGap', 2, 'messages left the stream before they were counted', {
    [control('picket_verdict_gaps_total')]: { by: 1 },
  }),
  one('PicketCheckpointsFail', 3, 'checkpoints cannot be stored', {
    [control('picket_verdict_checkpoints_failed_total')]: { by: 1 },
  }),
  one('PicketChangesDeferred', 3, 'rows of a tenant are locked', {
    [control('picket_verdict_deferred_monitors', 'partition="0"')]: 2,
  }),
  one('PicketHistoryStopped', 17, 'results are judged and none is written to ClickHouse', {
    [stream('picket_results_recorded_total', 'RESULTS')]: 0,
  }),
  one('PicketHistoryBehind', 7, 'the history is far behind', {
    [stream('picket_history_waiting_seconds', 'RESULTS')]: 1_000,
    [stream('picket_stream_bytes', 'RESULTS')]: 2 * GIB,
  }),
  one('PicketStreamNearlyFull', 2, 'a full stream contains unrecorded messages', {
    [stream('picket_history_waiting_seconds', 'RESULTS')]: 700,
  }),
  one('PicketStreamNearlyFull', 2, 'the stream of kept pings is nearly full', {
    [stream('picket_stream_bytes', 'PINGS')]: 0.21 * GIB,
  }),
  one('PicketResultsUnrecordable', 2, 'ClickHouse refuses results', {
    [control('picket_results_unrecordable_total', 'reason="refused"')]: { by: 1 },
  }),
  one('PicketPingsKept', 3, 'a process accepts pings without PostgreSQL', {
    [control('picket_heartbeat_pings_kept_total', 'outcome="kept"')]: { by: 1 },
  }),
  one('PicketPingsRefused', 2, 'pings are refused', {
    [control('picket_heartbeat_pings_kept_total', 'outcome="refused"')]: { by: 1 },
  }),
  one('PicketAlertsLate', 8, 'alerts begin late', { [firstAttempt('1')]: 0 }),
  one('PicketDeliveriesFail', 25, 'deliveries fail', {
    [control('picket_delivery_attempts_total', 'status="failed"')]: { by: 3 },
  }),
  one('PicketDeliveriesPostponed', 4, 'Picket has no route to the receivers', {
    [control('picket_delivery_own_faults_total', 'fault="network"')]: { by: 1 },
  }),
  one('PicketDeliveriesWait', 3, 'deliveries are due and not attempted', {
    [control('picket_deliveries_due_seconds')]: { by: STEP_S },
  }),
  one('PicketFanOutsWait', 4, 'events wait until their deliveries are queued', {
    [control('picket_fan_outs_waiting_seconds')]: { by: STEP_S + 5 },
  }),
  one('PicketCanaryMissed', 2, 'a canary is missed', { [outcomes('us-east', 'missed')]: 1 }),
  one('PicketCanaryLate', 2, 'a canary is late', { [outcomes('us-east', 'late')]: 1 }),
  one('PicketGuaranteeMissed', 2, 'a planned outage is reported later than guaranteed', { [guarantees('missed')]: 1 }),
  one('PicketAccountMailsLost', 2, 'a mail is lost', { [control('picket_account_mails_total', 'outcome="lost"')]: 1 }),
  one('PicketLoopFails', 7, 'a loop keeps failing', { [rounds('digests', 'failed')]: { by: 1 } }),
  one('PicketLoopStuck', 3, 'a round of a loop does not end', {
    [loop('picket_loop_round_age_seconds', 'record')]: { by: STEP_S },
  }),
  one('PicketLoopSilent', 7, 'a loop has no more rounds', { [rounds('verdict-ownership')]: 0 }),
  one('PicketPoolExhausted', 2, 'queries wait for a pool that is used up', {
    [pool('picket_postgres_pool_waiting')]: 5,
    [pool('picket_postgres_pool_connections', ',state="in_use"')]: 8,
  }),
  one('PicketApiErrors', 7, 'requests fail', { [requests(503)]: { by: 5 } }),
  one('PicketEventLoopHeld', 6, 'a process is short of processor time', {
    [control('nodejs_eventloop_lag_p99_seconds')]: 0.8,
  }),
  one('PicketClocksDisagree', 2, 'the clock of NATS is wrong', {
    [control('picket_clock_disagreement_seconds', 'with="nats"')]: 60,
  }),
  one('PicketClockSet', 2, 'the clock of NATS is set', { [control('picket_clock_steps_total', 'of="nats"')]: 1 }),
  one('PicketUnwell', 11, 'a point is not well for long', { [OTHER_FINDINGS]: 1 }),
  one('PicketHealthUnknown', 11, 'no process says how the watching is', { [POSTGRES_FINDINGS]: 'gone' }),
]

/** Samples in promtool's notation: healthy before the fault, then the values of the fault. A counter continues from its value. */
function samples(healthy: Values, then: Values): string {
  const perStep = ({ by }: { by: number }) => (by * STEP_S) / 15
  const [start, rise] = typeof healthy === 'object' && 'by' in healthy ? [0, perStep(healthy)] : [Number(healthy), 0]
  const last = start + rise * (BEGIN - 1)
  const before = `${start}+${rise}x${BEGIN - 1}`
  if (then === 'gone') return `${before} stale`
  if (typeof then === 'object' && 'aMinuteLater' in then) return `${before} ${last}+0x1 ${then.aMinuteLater}+0x${AFTER}`
  if (typeof then === 'object') return `${before} ${last + perStep(then)}+${perStep(then)}x${AFTER}`
  // a counter that stops keeps its value; a gauge gets the new value
  return `${before} ${rise > 0 && then === 0 ? last : then}+0x${AFTER}`
}

const FIRING = 'group by (alertname) (ALERTS{alertstate="firing"})'

/** A file for `promtool test rules`: an hour of health in which no alert fires, and one group for each fault. */
export function promtoolFile(rules: string) {
  const series = (changes: Series) =>
    Object.entries(HEALTHY).map(([name, values]) => ({
      series: name,
      values: samples(values, changes[name] ?? values),
    }))
  const group = (changes: Series, tests: object[]) => ({
    interval: `${STEP_S}s`,
    input_series: series(changes),
    promql_expr_test: tests,
  })
  const firing = (minutes: number, alerts: string[]) => ({
    expr: FIRING,
    eval_time: `${minutes}m`,
    exp_samples: alerts.map(alert => ({ labels: `{alertname="${alert}"}`, value: 1 })),
  })
  return {
    rule_files: [rules],
    evaluation_interval: `${EVALUATION_S}s`,
    tests: [
      group({}, [
        {
          expr: 'group by (alertname) (max_over_time(ALERTS{alertstate="firing"}[1h]))',
          eval_time: '60m',
          exp_samples: [],
        },
      ]),
      ...CASES.map(({ series: changes, minutes, alerts }) =>
        group(changes, [firing(14, []), firing(15 + minutes, alerts)]),
      ),
    ],
  }
}
