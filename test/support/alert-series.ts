/** Names of series of an installation, as `promtool test rules` reads them. */

export type Values = number | { aMinuteLater: number } | { by: number } | 'gone'
export type Series = Record<string, Values>

export const at = (job: string, name: string, labels = '') =>
  `${name}{job="${job}",instance="${job}-1"${labels && `,${labels}`}}`
export const control = (name: string, labels = '') => at('picket', name, labels)
export const probe = (name: string) => at('picket-probe', name)
export const outcomes = (region: string, outcome: string) =>
  control('picket_canary_outages_total', `region="${region}",kind="hang",outcome="${outcome}"`)
export const guarantees = (guarantee: string) =>
  control('picket_canary_guarantees_total', `region="us-east",kind="hang",guarantee="${guarantee}"`)
export const kinds = (kind: string) => control('picket_verdict_region_results_total', `region="us-east",kind="${kind}"`)
export const lag = (partition: number) => control('picket_verdict_lag_seconds', `partition="${partition}"`)
export const requests = (status: number, route = '/api/v1/monitors') =>
  control('picket_http_request_seconds_count', `method="GET",route="${route}",status="${status}"`)
export const firstAttempt = (le: string) => control('picket_delivery_first_attempt_seconds_bucket', `le="${le}"`)
export const stream = (name: string, of: string) => control(name, `stream="${of}"`)
export const pool = (name: string, more = '') => control(name, `pool="verdict"${more}`)
export const loop = (name: string, of: string, more = '') => control(name, `loop="${of}"${more}`)
export const rounds = (of: string, outcome = 'ok') => loop('picket_loop_rounds_total', of, `,outcome="${outcome}"`)

export const OWNED = control('picket_verdict_partitions_owned')
export const POSTGRES_FINDINGS = control('picket_health_findings', 'subject="postgres"')
export const OTHER_FINDINGS = control('picket_health_findings', 'subject="replication"')
export const RESULTS = control('picket_verdict_results_total', 'kind="counted"')
/** Results that the probes of two control planes lost since their start. */
export const LOST = control('picket_probe_dropped_results', 'region="us-east"')
export const LOST_OF_SECOND = LOST.replace('picket-1', 'picket-2')
export const ASSIGNED = control('picket_fleet_assignments', 'region="us-east"')
export const GIB = 1024 ** 3
