import type { OperationName, OperationResponse } from '../../control-plane/dashboard/core/operations.ts'
import { ago, buildExplanation, buildFailingVote, buildVote, NOW } from './dashboard-fixtures.ts'
import { buildComponent, buildGroup, buildPage } from './page-records.ts'
import { SETTINGS_ANSWERS } from './settings-answers.ts'

/** Answers of the API by operation. */
export type ApiAnswers = { [Name in OperationName]?: OperationResponse<Name> }

type Monitor = OperationResponse<'readMonitor'>['data']
type Dependency = OperationResponse<'listDependencies'>['data'][number]
type Silence = OperationResponse<'listSilences'>['data'][number]
type MaintenanceWindow = OperationResponse<'listMaintenanceWindows'>['data'][number]
type Incident = OperationResponse<'listIncidents'>['data'][number]
type Channel = OperationResponse<'listAlertChannels'>['data'][number]
type Check = OperationResponse<'listMonitorChecks'>['data'][number]
type AuditEntry = OperationResponse<'listAuditLog'>['data'][number]
type Screenshot = OperationResponse<'listMonitorScreenshots'>['data'][number]
type Votes = OperationResponse<'listMonitorVotes'>['data']
type Transition = OperationResponse<'listMonitorTransitions'>['data'][number]

const [ID, HOUR] = ['0190a0a0-0000-7000-8000-000000000001', 3_600_000]

/** A page of a list with all its records. */
export const buildList = <T>(data: T[], total = data.length) => ({
  data,
  meta: { page: 1, per_page: 25, total, total_pages: Math.max(1, Math.ceil(total / 25)) },
})

export const buildMonitor = (changes: Partial<Monitor> = {}): Monitor => ({
  ...{ id: ID, name: 'Shop', type: 'http', url: 'https://shop.example/', method: 'GET', headers: null, body: null },
  ...{ interval_seconds: 30, timeout_ms: 10_000, regions: ['us-east', 'eu-west', 'ap-southeast'], assertions: null },
  ...{ auth_type: null, auth_config: null, keyword: null, keyword_type: 'contains', heartbeat_interval: null },
  ...{ heartbeat_grace: null, ssl_check: true, domain_check: true, screenshot_on_failure: true },
  ...{ screenshot_compare: false, screenshot_threshold: 0.05, retry_count: 2, witness: true },
  ...{
    witness_with_credentials: false,
    tags: ['prod'],
    status: 'up',
    status_changed_at: ago(90),
    last_checked_at: ago(1),
  },
  ...{ is_paused: false, ping_url: null, ssl_expires_at: '2027-03-01T00:00:00.000Z', domain_expires_at: null },
  ...{ data_source: null, configuration_issues: [], created_at: ago(9_000), updated_at: ago(9_000) },
  ...changes,
})

export const buildIncident = (changes: Partial<Incident> = {}): Incident => ({
  ...{ id: 'i1', title: 'Shop is down', severity: 'major', status: 'investigating', message: null },
  ...{ source: 'automatic', caused_by_monitor_id: ID, monitor_ids: [ID], monitors: [], started_at: ago(12) },
  ...{ resolved_at: null, acknowledged_at: null, acknowledged_by: null, created_at: ago(12), updated_at: ago(12) },
  ...{ postmortem: null, postmortem_published_at: null },
  ...changes,
})

export const buildChannel = (changes: Partial<Channel> = {}): Channel => ({
  ...{ id: 'c1', name: 'Operations', type: 'webhook', config: {}, email_addresses: null, is_default: true },
  ...{ signing_secret: null, is_paused: false, paused_at: null, paused_reason: null, consecutive_failures: 0 },
  ...{ created_at: ago(9_000), updated_at: ago(9_000) },
  ...changes,
})

export const buildCheck = (changes: Partial<Check> = {}): Check => ({
  ...{ id: 'k1', monitor_id: ID, region: 'us-east', probe_id: 'probe-1', status: 'up', scheduled_at: ago(1) },
  ...{ started_at: ago(1), attempt: 1, trigger: 'schedule', response_time_ms: 812, status_code: 200, error: null },
  timings: { dns_ms: 12, connect_ms: 20, tls_ms: 40, first_byte_ms: 700, transfer_ms: 40 },
  ...{ failed_assertions: [], resolved_ip: '192.0.2.1', screenshot_url: null, evidence: null, certificate: null },
  ...{ ping: null, dns: null },
  ...changes,
})

export const buildCurrentVotes = (changes: Partial<Votes> = {}): Votes => {
  const { quorum, counts, thresholds, timings } = buildExplanation()
  const now = { vote_since: ago(90), newest_check: null, next_check_at: ago(-0.5), no_vote_reason: null }
  const regions = ['us-east', 'eu-west', 'ap-southeast']
  return {
    ...{
      monitor_id: ID,
      status: 'up',
      since: ago(90),
      unread_since: null,
      unchecked_since: null,
      at: ago(0),
      as_of: ago(0),
    },
    ...{ status_by_votes: 'up', failing_votes_needed: 2, quorum, thresholds, timings },
    counts: { ...counts, ok: 3, failing: 0 },
    votes: regions.map(region => ({ ...buildVote(region), ...now, vote: 'ok' })) as Votes['votes'],
    ...{
      silenced_by: [],
      alerts_withheld: false,
      withheld_alerts: [],
      last_transition_id: 't1',
      checks_available: true,
    },
    ...changes,
  }
}

/** Votes of a monitor that two of three regions find down. */
export const failingVotesNow = (): Votes => {
  const quiet = buildCurrentVotes()
  const votes = quiet.votes.map((vote, i) =>
    i === 2 ? vote : { ...vote, ...buildFailingVote(vote.region), vote: 'failing' },
  )
  const counts = { ok: 1, degraded: 0, failing: 2, not_voting: 0 }
  return { ...quiet, status: 'down', status_by_votes: 'down', counts, votes: votes as Votes['votes'] }
}

export const buildTransition = (changes: Partial<Transition> = {}): Transition => ({
  ...{ id: 't1', monitor_id: ID, from: 'up', to: 'down', at: ago(1), quorum: 'full' },
  ...{ caused_by_monitor_id: null, created_at: ago(1), updated_at: ago(1) },
  summary: '2 of 3 regions failed 3 checks in a row: us-east, eu-west (connection refused)',
  explanation: buildExplanation() as unknown as Transition['explanation'],
  ...changes,
})

/** A change of the settings of the monitor, half an hour ago. */
const buildAuditEntry = (changes: Partial<AuditEntry> = {}): AuditEntry => ({
  ...{ id: 'a1', at: ago(30), action: 'updated', resource: 'monitor', resource_id: ID, resource_name: 'Shop' },
  ...{ actor: { kind: 'user', id: 'u1', name: 'Ann', ip: null }, created_at: ago(30), updated_at: ago(30) },
  changes: { timeout_ms: { from: 10_000, to: 20_000 } },
  ...changes,
})

const hours = (count: number) =>
  Array.from({ length: count }, (_, i) => new Date(NOW - i * HOUR).toISOString()).reverse()

const span = { from: ago(24 * 60), to: ago(0) }

/** A monitor that is up, with a history, in a project without trouble. */
export const HEALTHY_ANSWERS: ApiAnswers = {
  ...SETTINGS_ANSWERS,
  readAnalyticsSummary: {
    data: {
      monitors: { total: 3, up: 3, down: 0, degraded: 0, paused: 0, pending: 0 },
      incidents: { open: 0, acknowledged: 0, resolved_24h: 2, mttr_seconds_30d: null, mtta_seconds_30d: null },
      uptime: { '24h': 99.987, '7d': 99.99, '30d': 100, '90d': null },
      checks_24h: 25_920,
    },
  },
  listIncidents: buildList<Incident>([]),
  listAlertChannels: buildList([buildChannel()]),
  listViews: buildList([]),
  listAlertLog: buildList([]),
  listSilences: buildList<Silence>([]),
  listMaintenanceWindows: buildList<MaintenanceWindow>([]),
  listDependencies: buildList<Dependency>([]),
  listMonitors: buildList<Monitor>([]),
  listAuditLog: buildList([buildAuditEntry()]),
  listMonitorScreenshots: buildList<Screenshot>([]),
  listRegions: buildList([
    { region: 'us-east', name: 'US East', is_live: true, live_probes: 1, no_live_probe_since: null },
    { region: 'eu-west', name: 'EU West', is_live: true, live_probes: 1, no_live_probe_since: null },
  ]),
  readMonitor: { data: buildMonitor() },
  listMonitorVotes: { data: buildCurrentVotes() },
  listMonitorTransitions: buildList<Transition>([]),
  listMonitorChecks: buildList([buildCheck()]),
  listAnalyticsStrips: {
    data: [
      {
        ...{ monitor_id: ID, cells: { status: [], failing_share: [] }, p95_ms: 900, uptime_24h: 99.98 },
        days: {
          status: Array.from({ length: 90 }, (_, i) => (i < 80 ? null : i === 85 ? 'down' : 'up')),
          down_seconds: Array.from({ length: 90 }, (_, i) => (i === 85 ? 130 : null)),
        },
      },
    ],
    meta: { cells_from: span.from, days_from: ago(90 * 24 * 60), to: span.to, latency_available: true },
  },
  readAnalyticsLatency: {
    data: hours(3).map(at => ({
      ...{ at, hour: at, region: null, count: 120, p50: 400, p75: 500, p90: 600, p95: 700, p99: 900 },
      ...{ min: 300, max: 1_000, avg: 450 },
      phases: { dns_ms: 10, connect_ms: 20, tls_ms: 30, first_byte_ms: 300, transfer_ms: 90 },
    })),
    meta: span,
  },
  readAnalyticsHeatmap: {
    data: hours(2).map(at => ({ at, counts: [0, 5, 100], failed: 1 })),
    meta: { ...span, step_seconds: 3_600, bounds_ms: [100, 500] },
  },
  readAnalyticsUptime: {
    data: {
      ...{ monitor_id: ID, ...span, seconds: { up: 86_270, degraded: 0, down: 130, unknown: 0 } },
      ...{ maintenance_seconds: 0, uptime_percentage: 99.85 },
      intervals: [{ status: 'down', from: ago(61), to: ago(59), is_maintenance: false }],
      truncated: false,
    },
  },
  listMonitorParents: {
    data: { monitor_id: ID, parent_ids: ['m9'], parents: [{ id: 'm9', name: 'Router', status: 'up' }] },
  },
  listAlertRules: buildList([
    {
      ...{ id: 'r1', monitor_id: ID, alert_channel_id: 'c1', on_down: true, on_recovery: true, on_degraded: false },
      ...{ remind_every_minutes: 30, created_at: ago(9_000), updated_at: ago(9_000) },
    },
  ]),
  listStatusPages: buildList([
    buildPage(),
    buildPage({ id: 'p2', name: 'Internal', slug: 'internal', is_published: false }),
  ]),
  readStatusPage: { data: buildPage() },
  listStatusPageComponents: buildList([
    buildComponent({ group_id: 'g1' }),
    buildComponent({ id: 'c2', name: 'Checkout', group_id: 'g1', display_order: 1, monitor_id: ID }),
    buildComponent({ id: 'c3', name: 'Mail', display_order: 2, status: 'degraded' }),
  ]),
  listStatusPageGroups: buildList([buildGroup()]),
  readMonitorGuarantee: {
    data: {
      outages: [{ kind: 'refused', down_within: 37, message_within: 39, shortest: 40, down_within_in_doubt: 60 }],
      reasons: ['The majority of three regions decides.'],
      holds_while: 'all regions have probes',
      under_faults: [{ fault: 'probe_lost', adds: 30, adds_duration: false }],
    },
  },
}
