import type { OperationName, OperationResponse } from '../../control-plane/dashboard/core/operations.ts'
import { ADMIN, ago } from './dashboard-fixtures.ts'

type Answers = { [Name in OperationName]?: OperationResponse<Name> }
type Member = OperationResponse<'listMembers'>['data'][number]
type Key = OperationResponse<'listApiKeys'>['data'][number]
type Probe = OperationResponse<'listProbes'>['data'][number]

const buildPage = <T>(data: T[]) => ({ data, meta: { page: 1, per_page: 25, total: data.length, total_pages: 1 } })
/** The list of chat installations of an installation with a chat app. */
const withApp = <T>({ data, meta }: ReturnType<typeof buildPage<T>>) => ({
  data,
  meta: { ...meta, is_app_configured: true },
})
const stamps = { created_at: ago(9_000), updated_at: ago(9_000) }

const buildMember = (changes: Partial<Member> = {}): Member => ({
  ...{ id: ADMIN.user!.id, user_id: ADMIN.user!.id, email: ADMIN.user!.email, name: 'Ann', role: 'admin' },
  ...{ is_claimed: true, awaits_proof: false, suspended_at: null, ...stamps },
  ...changes,
})

const buildKey = (changes: Partial<Key> = {}): Key => ({
  ...{ id: 'k1', name: 'Deployment', scope: 'write', hint: 'svc_4fQ…x9Zt', created_by: ADMIN.user!.id },
  ...{ last_used_at: ago(3), suspended_at: null, ...stamps },
  ...changes,
})

const buildProbeRecord = (changes: Partial<Probe> = {}): Probe => ({
  ...{ id: 'p1', name: 'iad-1', region: 'us-east', version: '0.1.0', capabilities: [], live: true },
  ...{ connected_since: ago(600), last_heartbeat_at: ago(0.1), loop_lag_ms: 2, clock_offset_ms: 3 },
  load: { running: 12, limit: 1_000, waiting: 0, assignments: 340, start_delay_ms: 4 },
  ...{ spool: { results: 0, bytes: 0, dropped: 0 }, connectivity_ok: true, draining: null, drained_until: null },
  ...{ revoked: false, ...stamps },
  ...changes,
})

const buildUsage = (used: number, limit: number | null) => ({ used, limit })

/** What the screens of the settings and of the regions read. */
export const SETTINGS_ANSWERS: Answers = {
  listMembers: buildPage([
    buildMember(),
    buildMember({ id: 'u2', user_id: 'u2', email: 'eve@example.com', name: null, role: 'viewer', is_claimed: false }),
    buildMember({
      id: 'u3',
      user_id: 'u3',
      email: 'bob@example.com',
      name: 'Bob',
      role: 'editor',
      suspended_at: ago(60),
    }),
  ]),
  listApiKeys: buildPage([
    buildKey(),
    buildKey({ id: 'k2', name: 'Old script', scope: 'read', last_used_at: null, created_by: null }),
    buildKey({ id: 'k3', name: 'Laptop', scope: 'admin', suspended_at: ago(60) }),
  ]),
  readProject: {
    data: {
      ...{ id: 'p1', name: 'Production', plan: 'free', status_pages: [], ...stamps },
      limits: {
        ...{ monitors: buildUsage(37, 50), status_pages: buildUsage(1, 1), data_sources: buildUsage(0, 2) },
        ...{ alert_channels: buildUsage(3, 10), alert_subscriptions: buildUsage(2, 20), api_keys: buildUsage(3, 10) },
        ...{
          maintenance_windows: buildUsage(0, 50),
          open_incidents: buildUsage(2, null),
          subscribers: buildUsage(120, 1_000),
        },
        ...{ members: buildUsage(3, 3), rules_per_monitor: 20, channels_per_host: 20, custom_domain: true },
        min_interval_seconds: 30,
      },
      embeds: {
        links: { status_page: null, badge: null, widget: null },
        snippets: { badge_markdown: null, badge_html: null, widget_html: null, curl: '' },
      },
    },
  },
  listChatInstallations: withApp(
    buildPage([
      {
        ...{ id: 'i1', team_id: 'T1', team_name: 'Example team', installed_by: ADMIN.user!.id, installed_at: ago(900) },
        ...{ scopes: [], default_channel_id: 'c1', revoked_at: null, ...stamps },
      },
    ]),
  ),
  listWallLinks: buildPage([
    { id: 'w1', name: 'Office', query: 'tag:shop', last_used_at: ago(1), ...stamps },
    { id: 'w2', name: 'Kitchen', query: '', last_used_at: null, ...stamps },
  ]),
  listChatIdentities: buildPage([
    { id: 'x1', team_id: 'T1', chat_user_id: 'U1', user_id: ADMIN.user!.id, disconnected_at: null, ...stamps },
    { id: 'x2', team_id: 'T1', chat_user_id: 'U2', user_id: 'u2', disconnected_at: ago(600), ...stamps },
  ]),
  listProbes: buildPage([
    buildProbeRecord(),
    buildProbeRecord({
      ...{ id: 'p2', name: 'fra-2', region: 'eu-west', live: false, draining: 'disagrees often' },
      ...{ drained_until: ago(-30), spool: { results: 120, bytes: 40_000, dropped: 0 }, clock_offset_ms: 4_000 },
    }),
    buildProbeRecord({ id: 'p3', name: 'sin-1', region: 'ap-southeast', live: false, connected_since: null }),
  ]),
}
