/**
 * Counters whose first sample in Prometheus is already above 0, for `promtool test rules`: a process counted before its first
 * scrape, or the series of a label begins with its first event.
 */

/** The counter of each alert that reports a single event, with its labels. */
export const COUNTERS: Record<string, string> = {
  PicketProbeLosesResults: 'picket_probe_agent_results_dropped_total{job="picket-probe"}',
  PicketResultsUnreadable: 'picket_verdict_set_aside_total{job="picket",what="message"}',
  PicketCanaryMissed: 'picket_canary_outages_total{job="picket",region="us-east",kind="hang",outcome="missed"}',
  PicketCanaryLate: 'picket_canary_outages_total{job="picket",region="us-east",kind="hang",outcome="late"}',
  PicketGuaranteeMissed: 'picket_canary_guarantees_total{job="picket",region="us-east",kind="hang",guarantee="missed"}',
  PicketAccountMailsLost: 'picket_account_mails_total{job="picket",outcome="lost"}',
  PicketClockSet: 'picket_clock_steps_total{job="picket",of="nats"}',
  PicketEpochsForged: 'picket_verdict_region_results_total{job="picket",region="us-east",kind="refused_epoch"}',
  PicketForeignReports: 'picket_foreign_reports_total{job="picket",region="us-east",what="result"}',
  PicketEpochsRenewed: 'picket_fleet_epochs_renewed_total{job="picket",region="us-east"}',
  PicketVerdictGap: 'picket_verdict_gaps_total{job="picket"}',
  PicketResultsUnrecordable: 'picket_results_unrecordable_total{job="picket",reason="refused"}',
  PicketPingsKept: 'picket_heartbeat_pings_kept_total{job="picket",outcome="kept"}',
  PicketPingsRefused: 'picket_heartbeat_pings_kept_total{job="picket",outcome="refused"}',
}
const ALL = Object.keys(COUNTERS)

/** Minutes. The longest range of these rules is an hour. */
const HAPPENS = 90
const END = 240
const FOREVER = 'x1000'
const none = (minutes: number) => `_x${minutes}`
const OLD = -86_400

type FirstSample = {
  title: string
  /** samples, one a minute, in promtool's notation */
  counter: string
  up: string
  /** when the process started, in seconds */
  started: string
  /** two minutes later all of the alerts fire, or none does at any time */
  fires: boolean
}

const FIRST_SAMPLES: FirstSample[] = [
  {
    title: 'a new process has counted before its first scrape',
    counter: `${none(HAPPENS)} 1+0${FOREVER}`,
    up: `${none(HAPPENS)} 1+0${FOREVER}`,
    started: `${none(HAPPENS)} ${HAPPENS * 60 - 30}+0${FOREVER}`,
    fires: true,
  },
  {
    title: 'a process was restarted and has counted as much as before',
    counter: `1+0${FOREVER}`,
    up: `1+0${FOREVER}`,
    started: `${OLD}+0x${HAPPENS - 1} ${HAPPENS * 60 - 30}+0${FOREVER}`,
    fires: true,
  },
  {
    title: 'the series of a label begins in a process that runs for long',
    counter: `${none(HAPPENS)} 1+0${FOREVER}`,
    up: `1+0${FOREVER}`,
    started: `${OLD}+0${FOREVER}`,
    fires: true,
  },
  {
    title: 'Prometheus did not run for half an hour, and nothing happened',
    counter: `1+0x${HAPPENS - 1} ${none(30)} 1+0${FOREVER}`,
    up: `1+0x${HAPPENS - 1} ${none(30)} 1+0${FOREVER}`,
    started: `${OLD}+0x${HAPPENS - 1} ${none(30)} ${OLD}+0${FOREVER}`,
    fires: false,
  },
  {
    title: 'a process did not answer for half an hour, and nothing happened',
    counter: `1+0x${HAPPENS - 1} stale ${none(29)} 1+0${FOREVER}`,
    up: `1+0x${HAPPENS - 1} 0+0x29 1+0${FOREVER}`,
    started: `${OLD}+0x${HAPPENS - 1} stale ${none(29)} ${OLD}+0${FOREVER}`,
    fires: false,
  },
  {
    title: 'Prometheus was installed again, and nothing happened',
    counter: `${none(HAPPENS)} 1+0${FOREVER}`,
    up: `${none(HAPPENS)} 1+0${FOREVER}`,
    started: `${none(HAPPENS)} ${OLD}+0${FOREVER}`,
    fires: false,
  },
]

const JOBS = ['picket', 'picket-probe']
const withInstance = (series: string) => series.replace('}', ',instance="1"}')

/** A file for `promtool test rules` with one group for each case. */
export function buildFirstSampleTests(rules: string) {
  const named = `ALERTS{alertstate="firing",alertname=~"${ALL.join('|')}"}`
  const expect = (minutes: number, expr: string, alerts: string[]) => ({
    expr: `group by (alertname) (${expr})`,
    eval_time: `${minutes}m`,
    exp_samples: alerts.map(alert => ({ labels: `{alertname="${alert}"}`, value: 1 })),
  })
  return {
    rule_files: [rules],
    evaluation_interval: '1m',
    tests: FIRST_SAMPLES.map(({ counter, up, started, fires }) => ({
      interval: '1m',
      input_series: [
        ...ALL.map(alert => ({ series: withInstance(COUNTERS[alert]!), values: counter })),
        ...JOBS.flatMap(job => [
          { series: withInstance(`up{job="${job}"}`), values: up },
          { series: withInstance(`process_start_time_seconds{job="${job}"}`), values: started },
        ]),
      ],
      promql_expr_test: [
        expect(HAPPENS - 1, `max_over_time(${named}[${HAPPENS - 1}m])`, []),
        expect(HAPPENS + 2, named, fires ? ALL : []),
        // an event is not reported for ever
        expect(END, fires ? named : `max_over_time(${named}[${END}m])`, []),
      ],
    })),
  }
}
