import type { OperationName, OperationResponse } from '../../control-plane/dashboard/core/operations.ts'
import type { Screen } from '../../control-plane/dashboard/core/screen.ts'
import {
  type ApiAnswers,
  buildChannel,
  buildCheck,
  buildIncident,
  buildList,
  buildMonitor,
  buildTransition,
  failingVotesNow,
  HEALTHY_ANSWERS,
} from './dashboard-answers.ts'
import { ADMIN, ago, buildBoard, buildExplanation, REFUSED } from './dashboard-fixtures.ts'
import { REACH_ANSWERS } from './dashboard-reach-answers.ts'
import { LOADED_SCREENS, type ScreenState } from './dashboard-screens.tsx'
import { STORED_CHANNEL } from './form-records.ts'
import { INTEGRATION_ANSWERS } from './integration-answers.ts'

export const RECORD_ID = buildMonitor().id

/** A screen with what its operations answer. */
export type DashboardScene = { screen: Screen; address: string; name: string; state: ScreenState }

type Timeline = NonNullable<ApiAnswers['readIncidentTimeline']>['data']
type Delivery = NonNullable<ApiAnswers['readAlertLog']>['data']

const monitor = { id: RECORD_ID, name: 'Checkout', status: 'down' as const }
const incident = buildIncident({ title: 'Checkout is down', monitors: [monitor], message: 'Payments fail.' })

const checkItem = (minutes: number, region: string, error: string | null) => ({
  ...{ at: ago(minutes), kind: 'check', monitor_id: RECORD_ID, region },
  check: {
    ...{ status: error ? 'down' : 'up', status_code: error ? 0 : 200, response_time_ms: 80, attempt: 1 },
    ...{ scheduled_at: ago(minutes), probe_id: 'probe-1', error: error && { ...REFUSED.error!, message: error } },
  },
})
const deliveryItem = (status: string, received: string | null) => ({
  ...{ at: ago(11.9), kind: 'delivery', delivery_id: `whd_${status}`, event: 'monitor.down' },
  ...{ alert_channel_id: 'c1', channel_name: 'Operations', channel_type: 'webhook', status, attempts: 3 },
  ...{ received_at: received, response_code: received ? 204 : null },
})
const evidenceCheck = (region: string, changes: Partial<ReturnType<typeof buildCheck>>) =>
  buildCheck({ id: region, monitor_id: RECORD_ID, region, scheduled_at: ago(12.2), ...changes })
const EVIDENCE = {
  ...{ monitor_id: RECORD_ID, transition_id: 't1' },
  failing: evidenceCheck('us-east', {
    ...{ status: 'down', status_code: 503, response_time_ms: 62, attempt: 3 },
    timings: { dns_ms: 9, connect_ms: 18, tls_ms: 21, first_byte_ms: 12, transfer_ms: 2 },
    error: { source: 'target', code: 'unexpected_status', message: 'the status code is 503, expected 200 to 399' },
    evidence: {
      headers: { 'content-type': 'text/plain', server: 'nginx/1.26.0' },
      body: 'upstream connect error',
      chain: [],
    },
  }),
  healthy: evidenceCheck('ap-southeast', {}),
}

const TIMELINE = {
  ...{ incident_id: incident.id, monitor_ids: [RECORD_ID], monitors_truncated: false, counts: [], omitted: [] },
  evidence: EVIDENCE,
  items: [
    checkItem(12.5, 'us-east', 'connection refused'),
    checkItem(12.4, 'eu-west', 'connection refused'),
    checkItem(12.2, 'ap-southeast', null),
    {
      ...{ at: ago(12), kind: 'transition', monitor_id: RECORD_ID, transition_id: 't1', from: 'up', to: 'down' },
      ...{ quorum: 'full', summary: '2 of 3 regions failed 3 checks in a row.', has_explanation: true },
      explanation: buildExplanation(),
    },
    deliveryItem('delivered', ago(11.89)),
    deliveryItem('failed', null),
    {
      ...{ at: ago(10), kind: 'incident_updated', update_id: 'n1', status: 'identified', is_internal: false },
      ...{ message: 'A deployment broke the login. We roll it back.', author_id: ADMIN.user!.id },
    },
  ],
} as unknown as Timeline

const attempt = (code: number | null, error: string | null, answer: string | null) => ({
  ...{ at: ago(11), response_code: code, duration_ms: 34, error, response_snippet: answer },
})
const DELIVERY = {
  ...{ id: 'whd_1', delivery_id: 'whd_1', alert_channel_id: 'c1', channel_id: 'c1', event: 'monitor.down' },
  ...{ status: 'failed', attempts: [attempt(503, 'HTTP 503', 'no capacity'), attempt(null, 'timed out', null)] },
  ...{ attempts_left_out: 0, request_url: 'https://hooks.example.com/x', request_headers: { 'X-Api-Key': '********' } },
  ...{ about: { type: 'monitor', id: 'm1', name: 'Checkout' } },
  ...{ request_body: '{"event":"monitor.down"}', created_at: ago(12), updated_at: ago(10) },
} as unknown as Delivery

const PLANNED_IMPORT: OperationResponse<'readImport'>['data'] = {
  ...{ id: 'i1', status: 'ready', from: 'uptime-kuma', prune: true, file_name: 'kuma.db', bytes: 4_194_304 },
  ...{ can_apply: true, progress: { done: 8, total: 8 }, error: null, created_at: ago(3), updated_at: ago(2) },
  summary: { create: 1, update: 1, delete: 2, unchanged: 40, left_out: 1, note: 0, warnings: 2, extra: 0 },
}
const buildItem = (item: object) => ({ resource: 'monitor' as const, id: null, fields: {}, warnings: [], ...item })
const PLANNED_ITEMS = [
  buildItem({ action: 'delete', key: 'Old shop' }),
  buildItem({
    ...{ action: 'left_out', resource: null, key: 'Queue' },
    warnings: ['monitors of type rabbitmq are not supported; it was left out'],
  }),
  buildItem({ action: 'update', key: 'Checkout', fields: { interval_seconds: { from: 60, to: 30 } } }),
] as never[]

const REGIONS = buildList(
  (['us-east', 'eu-west', 'ap-southeast'] as const).map((region, i) => ({
    ...{ region, name: region, is_live: i > 0, live_probes: i, no_live_probe_since: null },
  })),
)

/** A project with trouble of every kind, in every operation that a screen reads. */
const FULL_ANSWERS: ApiAnswers = {
  ...HEALTHY_ANSWERS,
  listIncidents: buildList([incident, buildIncident({ id: 'i2', title: 'Search is slow', status: 'identified' })], 60),
  listAlertChannels: buildList([
    buildChannel({ config: { url: 'https://hooks.example.com/x' } }),
    buildChannel({
      id: 'c2',
      name: 'Old pager',
      is_paused: true,
      paused_at: ago(90),
      paused_reason: '50 failed in a row',
    }),
  ]),
  listAlertLog: buildList([DELIVERY, { ...DELIVERY, id: 'whd_2', status: 'delivered' }], 60),
  listMonitors: buildList([buildMonitor({ name: 'Ends soon' })]),
  readMonitor: { data: buildMonitor({ name: 'Checkout', status: 'down', status_changed_at: ago(12) }) },
  listMonitorVotes: { data: failingVotesNow() },
  listMonitorTransitions: buildList([buildTransition()]),
  listMonitorChecks: buildList([
    buildCheck({ id: 'k2', status: 'down', status_code: 0, error: REFUSED.error as never, timings: null as never }),
    buildCheck(),
  ]),
  listIncidentTemplates: buildList([
    {
      ...{ id: 'x1', name: 'Provider outage', title: 'Provider outage', severity: 'major', status: 'identified' },
      ...{ message: 'Our provider reports an outage.', created_at: ago(9_000), updated_at: ago(9_000) },
    },
  ]),
  readAlertSettings: {
    data: {
      ...{ id: 's1', is_digest_enabled: true, digest_threshold: 10, on_call_user_id: null },
      ...{ created_at: ago(9_000), updated_at: ago(9_000) },
    },
  },
  listAlertProjectChannels: buildList([
    {
      ...{ id: 'u1', alert_channel_id: 'c1', alert_type: 'incident' as const },
      ...{ created_at: ago(9_000), updated_at: ago(9_000) },
    },
  ]),
  listAlertRelay: buildList([
    {
      ...{ id: 'd1', destination: 'https://hooks.example.com', state: 'open' as const, consecutive_failures: 5 },
      ...{ opened_at: ago(4), next_trial_at: ago(-1), waiting: 3, dead: 2 },
      ...{ created_at: ago(9_000), updated_at: ago(4) },
    },
  ]),
  readIncident: { data: { ...incident, possible_causes: [] } as never },
  readIncidentTimeline: { data: TIMELINE },
  readAlertLog: { data: DELIVERY },
  readAlertChannel: { data: STORED_CHANNEL },
  listRegions: REGIONS,
  ...REACH_ANSWERS,
  listImports: buildList([PLANNED_IMPORT]),
  readImport: { data: PLANNED_IMPORT },
  listImportItems: buildList(PLANNED_ITEMS, 60),
  ...INTEGRATION_ANSWERS,
}

const FULL_BOARD = buildBoard([
  {
    ...{ name: 'Checkout', status: 'down', since: ago(12), tags: ['prod', 'shop'], cause: 'connection refused' },
    votes: { 'us-east': 'failing', 'eu-west': 'failing', 'ap-southeast': 'ok' },
  },
  { name: 'Search', status: 'degraded', since: ago(40), cause: 'slower than 2 s', votes: { 'us-east': 'degraded' } },
  { name: 'Backup', status: null, since: null, type: 'heartbeat', votes: {}, issue: 'heartbeat_interval is required' },
  { name: 'Website', since: ago(9_000), tags: ['prod'] },
  { name: 'Old shop', isPaused: true, since: ago(9_000) },
])

/** What a list answers in a new project. Records and figures stay, because a page without its record is the error. */
const EMPTY_ANSWERS = Object.fromEntries(
  Object.entries(FULL_ANSWERS).map(([name, answer]) => [name, emptyAnswer(name, answer)]),
) as ApiAnswers

function emptyAnswer(name: string, answer: unknown): unknown {
  if (name === 'readIncidentTimeline') return { data: { ...TIMELINE, items: [] } }
  if (name === 'listRegions' || name === 'listAnalyticsStrips') return answer
  return Array.isArray((answer as { data: unknown }).data) ? { ...(answer as object), ...buildList([]) } : answer
}

const AWAY = { status: 503, code: 'unavailable', message: 'temporarily unavailable' }
const ALL_AWAY = Object.fromEntries(
  [...Object.keys(FULL_ANSWERS), 'readMonitorBoard'].map(name => [name, AWAY]),
) as Partial<Record<OperationName, typeof AWAY>>

/** The state of a project with everything, as a person sees it whose browser runs scripts. */
export const FULL: ScreenState = { answers: FULL_ANSWERS, board: FULL_BOARD, isInteractive: true }

/** Only people of the operator project see the probes. */
const OPERATOR = { ...ADMIN, is_operator: true }

/** Everything fails but the record that the screen is about. */
const listErrors = (screen: Screen, address: string) => {
  const [path, search] = address.split('?')
  const location = { params: { id: path!.split('/')[2] ?? '' }, search: new URLSearchParams(search) }
  const record = screen.record && screen.queries(location, 0, ADMIN)[screen.record]?.name
  return Object.fromEntries(Object.entries(ALL_AWAY).filter(([name]) => name !== record))
}

/** Every screen of the dashboard with lists that are full, lists that are empty, and reads that fail. */
export const SCENES: DashboardScene[] = LOADED_SCREENS.flatMap(screen => {
  const address = screen.path.replace(/:\w+/g, RECORD_ID)
  const base = screen.path === '/fleet' ? { ...FULL, me: OPERATOR } : FULL
  const states: Record<string, ScreenState> = {
    full: base,
    empty: { ...base, answers: EMPTY_ANSWERS, board: buildBoard([]) },
    error: { ...base, errors: listErrors(screen, address) },
    ...(screen.record && { away: { ...base, errors: ALL_AWAY } }),
  }
  return Object.entries(states).map(([name, state]) => ({ screen, address, name, state }))
})

/** A name for files, such as `monitors-id-settings-empty`. */
export const nameScene = ({ screen, name }: DashboardScene): string =>
  [...(screen.path.match(/\w+/g) ?? ['overview']), name].join('-')
