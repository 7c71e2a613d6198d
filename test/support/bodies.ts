import { v7 as uuidv7 } from 'uuid'
import type {
  AlertChannelCreate,
  CreateDataSourceData,
  CreateDataSourceFieldData,
  MonitorCreate,
  StatusPageCreate,
  StatusPageUpdate,
} from '../../deploy/client/index.ts'
import type { Operation } from './operations.ts'
import type { Records } from './records.ts'
import { dependencyBody } from './vendors.ts'

export const HOOK = 'https://hooks.example.com/picket'

export const MONITOR = {
  name: 'Shop',
  type: 'http',
  url: 'https://shop.example.com/health',
  method: 'POST',
  headers: { Accept: 'application/json' },
  body: '{}',
  interval_seconds: 60,
  timeout_ms: 5_000,
  regions: ['us-east'],
  assertions: [{ type: 'status_code', operator: 'equals', value: '200' }],
  auth_type: 'bearer',
  auth_config: { token: 'a token of the shop' },
  keyword: 'ok',
  keyword_type: 'contains',
  heartbeat_interval: 60,
  heartbeat_grace: 60,
  ssl_check: true,
  domain_check: false,
  screenshot_on_failure: true,
  screenshot_compare: false,
  screenshot_threshold: 0.1,
  retry_count: 1,
  witness: true,
  witness_with_credentials: true,
  tags: ['shop'],
} satisfies MonitorCreate
export const CHANNEL = {
  name: 'Hook',
  type: 'webhook',
  config: { url: HOOK, headers: { 'X-Team': 'ops' } },
  is_default: false,
} satisfies AlertChannelCreate

export const WINDOW = {
  title: 'Backup',
  description: 'every night',
  cron: '30 2 * * *',
  duration_minutes: 45,
  time_zone: 'Europe/Berlin',
  starts_at: '2026-01-01T00:00:00Z',
  ends_at: '2126-01-01T00:00:00Z',
}

export const SILENCE = {
  until: new Date(Date.now() + 24 * 3_600_000).toISOString(),
  reason: 'Move to the new rack',
}

const POSTMORTEM = { postmortem: 'A disk was full.', is_postmortem_published: false }

export const FIELD = {
  path: 'services.*.status',
  name_template: '{{key}}',
  rule_type: 'equals',
  rule_config: { value: 'ok' },
  degraded_rule_config: { value: 'slow' },
  display_order: 2.5,
} satisfies CreateDataSourceFieldData['body']
/** Properties that a read adds to a field. */
const AS_READ = {
  child_monitors: [{ key: 'api', name: 'api' }],
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
}
export const SOURCE = {
  name: 'Health',
  description: 'of all services',
  url: 'https://shop.example.com/health.json',
  method: 'POST',
  headers: { Accept: 'application/json' },
  body: '{}',
  auth_type: 'api_key',
  auth_config: { header: 'X-Key', value: 'a key of the shop' },
  root_path: '$.data',
  fetch_interval_s: 60,
  timeout_ms: 5_000,
  is_paused: false,
  fields: [{ ...FIELD, ...AS_READ }],
} satisfies CreateDataSourceData['body']

export const newPage = (): StatusPageCreate => ({
  name: 'Acme',
  slug: uuidv7(),
  template: 'clean',
  brand_color: '#00ff7f',
})
const PAGE_UPDATE = {
  name: 'Acme Cloud',
  logo_url: null,
  favicon_url: null,
  brand_color: '#2563eb',
  custom_css: '.page { letter-spacing: 0.01em }',
  template: 'terminal',
  seo_title: 'Is Acme up?',
  seo_description: 'How Acme is doing',
  is_published: true,
  show_response_times: false,
  show_uptime_percentage: false,
} satisfies StatusPageUpdate

/** A webhook channel with an unreachable address. */
export const bodyOfChannel = () => CHANNEL

/** A valid body of each operation with all its properties. A new operation with a body needs a line. */
export function buildBody({ name }: Operation, records: Records): Record<string, unknown> {
  const { auth_type, auth_config, heartbeat_interval, heartbeat_grace, screenshot_threshold, ...update } = MONITOR
  const rule = { monitor_id: records.monitor_id, alert_channel_id: records.alert_channel_id }
  const switches = { on_down: true, on_recovery: true, on_degraded: false }
  const incident = { title: 'Shop is slow', severity: 'major', status: 'investigating' }
  const { monitor_id, component_id, group_id } = records
  const component = { name: 'Shop', description: 'sells', monitor_id, group_id, display_order: 3 }
  const group = { name: 'Europe', description: 'all of it', display_order: 2, is_collapsed: true }
  const domain = { domain: 'status.example.com' }
  const { overrides: _, ...feed } = dependencyBody(records.alert_channel_id)
  const bodies: Record<string, Record<string, unknown>> = {
    'POST /agent/bootstrap': { email: `${uuidv7()}@example.com`, name: 'Ann' },
    'POST /agent/invite': { email: `${uuidv7()}@example.com`, name: 'Ann', role: 'viewer' },
    'PUT /members/{id}': { role: 'viewer' },
    'POST /api-keys': { name: 'CI', scope: 'read' },
    'POST /monitors': MONITOR,
    'POST /monitors/test': MONITOR,
    'POST /monitors/bulk': { monitors: [MONITOR] },
    'POST /monitors/bulk-changes': {
      monitor_ids: [records.monitor_id],
      change: {
        ...{ is_paused: false, interval_seconds: 60, timeout_ms: 5_000, retry_count: 1 },
        regions: { set: ['us-east'] },
        tags: { add: ['shop'], remove: ['old'] },
        alert_rules: { add: [{ alert_channel_id: records.alert_channel_id, ...switches, remind_every_minutes: 30 }] },
      },
      dry_run: false,
    },
    'POST /monitors/{id}/rehearse': { settings: update },
    'PUT /monitors/{id}': update,
    'PUT /me/preferences': {
      ...{ theme: 'dark', density: 'comfortable', keyboard_shortcuts: false, time_zone: 'Europe/Berlin' },
    },
    'PUT /chat/identities/{id}': { is_connected: false },
    'POST /probe-tokens': { region: 'us-east' },
    'POST /wall-links': { name: 'Office', query: 'tag:shop' },
    'POST /views': { name: `View ${uuidv7()}`, query: 'is:down tag:shop', is_shared: true },
    'PUT /views/{id}': { name: `View ${uuidv7()}`, query: 'is:down', is_shared: true },
    'PUT /monitors/{id}/auth': { auth_type, auth_config },
    'PUT /monitors/{id}/parents': { parent_ids: [records.parent_id] },
    'POST /maintenance-windows': { ...WINDOW, monitor_ids: [records.monitor_id] },
    'PUT /maintenance-windows/{id}': { ...WINDOW, monitor_ids: [records.monitor_id] },
    'POST /silences': { ...SILENCE, monitor_ids: [records.monitor_id] },
    'POST /alerts/channels': CHANNEL,
    'PUT /alerts/channels/{id}': CHANNEL,
    'POST /alerts/channels/test': CHANNEL,
    'POST /alerts/rules': { ...rule, ...switches, remind_every_minutes: 30 },
    'PUT /alerts/rules/{id}': { ...rule, ...switches, remind_every_minutes: 30 },
    'PUT /alerts/settings': {
      is_digest_enabled: true,
      digest_threshold: 10,
      on_call_user_id: records.on_call_user_id,
    },
    'POST /alerts/relay/redrive': { alert_channel_id: records.alert_channel_id },
    'POST /incidents': {
      ...{ ...incident, message: 'We are looking.', is_internal: false, monitor_ids: [records.monitor_id] },
    },
    'PUT /incidents/{id}': { ...incident, monitor_ids: [records.monitor_id], ...POSTMORTEM },
    'POST /incidents/{id}/updates': { message: 'Found it.', status: 'identified', is_internal: false },
    'POST /incident-templates': { ...incident, name: `Template ${uuidv7()}`, message: 'We are looking.' },
    'PUT /incident-templates/{id}': { ...incident, name: `Template ${uuidv7()}`, message: 'Found it.' },
    'POST /status-pages': newPage(),
    'PUT /status-pages/{id}': PAGE_UPDATE,
    'POST /status-pages/{id}/preview': PAGE_UPDATE,
    'POST /status-pages/{id}/components': component,
    'PUT /status-pages/{id}/components/{cid}': component,
    'PUT /status-pages/{id}/components/reorder': { component_ids: [component_id] },
    'POST /status-pages/{id}/groups': group,
    'PUT /status-pages/{id}/groups/{gid}': group,
    'POST /status-pages/{id}/custom-domain/analyze': domain,
    'POST /status-pages/{id}/custom-domain/domain-connect': domain,
    'PUT /status-pages/{id}/custom-domain': domain,
    'POST /dependencies': dependencyBody(records.alert_channel_id),
    'PUT /dependencies/{id}': dependencyBody(records.alert_channel_id),
    'POST /dependencies/test': feed,
    'POST /data-sources': SOURCE,
    'POST /data-sources/preview': { ...SOURCE, data_source_id: records.data_source_id },
    'PUT /data-sources/{id}': { ...SOURCE, fields: [{ id: records.field_id, ...SOURCE.fields[0] }] },
    'POST /data-sources/{id}/fields': { id: 'ignored', ...FIELD, ...AS_READ },
    'PUT /data-sources/{id}/fields/{field_id}': { id: 'ignored', ...FIELD, ...AS_READ },
    'POST /data-sources/{id}/publish': { status_page_id: records.page_id, group_id, field_ids: [records.field_id] },
    'POST /import': fileWith(records),
    'POST /alerts/project-channels': { alert_channel_id: records.alert_channel_id, alert_type: 'incident' },
  }
  const body = bodies[name]
  if (!body) throw new Error(`test/support/bodies.ts has no body for ${name}`)
  return body
}

/** More valid bodies of an operation: the properties that exclude those of `buildBody`. */
export function buildAlternativeBodies({ name }: Operation, records: Records): Record<string, unknown>[] {
  if (name !== 'POST /monitors/bulk-changes') return []
  const rules = { remove: [records.alert_channel_id] }
  const change = {
    regions: { add: ['eu-west'], remove: ['us-east'] },
    tags: { set: ['shop'] },
    alert_rules: rules,
  }
  return [
    { query: { type: 'http', tag: 'shop', q: 'Shop' }, change, dry_run: true },
    { monitor_ids: [records.monitor_id], change: { delete: true }, dry_run: true },
    { changes: [{ monitor_ids: [records.monitor_id], change }], dry_run: true },
  ]
}

/** A file with an entry of each kind and all properties. References are ids of existing records. */
function fileWith({ monitor_id, parent_id, alert_channel_id }: Records): Record<string, unknown> {
  const entry = { name: 'Filed', description: 'sells', monitor: monitor_id }
  const { display_order, ...field } = FIELD
  const { overrides, ...dependency } = dependencyBody(alert_channel_id)
  const triggers = { on_down: true, on_degraded: false, on_resolved: true }
  return {
    version: 1,
    alert_settings: { is_digest_enabled: true, digest_threshold: 10 },
    alert_channels: [{ id: uuidv7(), ...CHANNEL, name: 'Filed', subscriptions: ['incident'] }],
    monitors: [
      {
        id: uuidv7(),
        ...MONITOR,
        name: 'Filed',
        is_paused: true,
        parents: [parent_id],
        rules: [
          {
            channel: alert_channel_id,
            on_down: true,
            on_recovery: true,
            on_degraded: false,
            remind_every_minutes: 30,
          },
        ],
      },
    ],
    maintenance_windows: [{ id: uuidv7(), ...WINDOW, title: 'Filed', monitors: [monitor_id] }],
    data_sources: [
      { id: uuidv7(), ...SOURCE, name: 'Filed', fields: [{ id: uuidv7(), ...field }], monitors: ['Filed elsewhere'] },
    ],
    dependencies: [{ id: uuidv7(), ...dependency, overrides: [{ channel: alert_channel_id, ...triggers }] }],
    status_pages: [
      {
        id: uuidv7(),
        ...newPage(),
        ...PAGE_UPDATE,
        components: [
          {
            id: uuidv7(),
            name: 'Inside',
            description: 'all of it',
            is_collapsed: true,
            components: [{ id: uuidv7(), ...entry, name: 'Shop inside' }],
          },
          { id: uuidv7(), ...entry },
        ],
      },
    ],
  }
}
