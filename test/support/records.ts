import { v7 as uuidv7 } from 'uuid'
import { execute, query } from '../../control-plane/platform/postgres.ts'
import type { ApiServer } from './api-server.ts'
import type { Operation } from './operations.ts'
import type { Tenant } from './tenant.ts'
import { dependencyBody } from './vendors.ts'

type Account = Tenant & { key: string }

/** Ids of one record of each kind, by the name that a property or a filter gives them. */
export type Records = {
  monitor_id: string
  /** a monitor that it may depend on */
  parent_id: string
  window_id: string
  alert_channel_id: string
  rule_id: string
  subscription_id: string
  incident_id: string
  page_id: string
  component_id: string
  group_id: string
  subscriber_id: string
  log_id: string
  api_key_id: string
  dependency_id: string
  data_source_id: string
  field_id: string
  chat_installation_id: string
  /** a member */
  on_call_user_id: string
}

const HOOK = 'https://hooks.example.com/picket'

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
  tags: ['shop'],
}
const CHANNEL = {
  name: 'Hook',
  type: 'webhook',
  config: { url: HOOK, headers: { 'X-Team': 'ops' } },
  is_default: false,
}

const WINDOW = {
  title: 'Backup',
  description: 'every night',
  cron: '30 2 * * *',
  duration_minutes: 45,
  time_zone: 'Europe/Berlin',
  starts_at: '2026-01-01T00:00:00Z',
  ends_at: '2126-01-01T00:00:00Z',
}

export const FIELD = {
  path: 'services.*.status',
  name_template: '{{key}}',
  rule_type: 'equals',
  rule_config: { value: 'ok' },
  degraded_rule_config: { value: 'slow' },
  display_order: 2.5,
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
  fields: [FIELD],
}

const newPage = () => ({ name: 'Acme', slug: uuidv7(), template: 'clean', brand_color: '#00ff7f' })
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
}

/** A PNG of one pixel. */
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** A webhook channel to nowhere. */
export const bodyOfChannel = () => CHANNEL

/** Makes one record of each kind, through the API where it can. */
export async function createRecords(
  api: ApiServer,
  { key, projectId, userId }: Account,
  hook = HOOK,
): Promise<Records> {
  const create = async (path: string, body?: object) => {
    const answer = await api.call('POST', path, { key, ...(body && { body }) })
    if (answer.status > 201) throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body.data.id as string
  }
  const monitor_id = await create('/monitors', MONITOR)
  const alert_channel_id = await create('/alerts/channels', { ...CHANNEL, config: { ...CHANNEL.config, url: hook } })
  await insertScreenshot(api, projectId, monitor_id)
  const parent_id = await create('/monitors', { ...MONITOR, name: 'Router' })
  const page_id = await create('/status-pages', newPage())
  const data_source_id = await create('/data-sources', SOURCE)
  return {
    monitor_id,
    parent_id,
    window_id: await create('/maintenance-windows', { ...WINDOW, monitor_ids: [monitor_id] }),
    alert_channel_id,
    rule_id: await create('/alerts/rules', { monitor_id, alert_channel_id }),
    subscription_id: await create('/alerts/project-channels', { alert_channel_id, alert_type: 'dependency_incident' }),
    incident_id: await create('/incidents', { title: 'Shop is down', monitor_ids: [monitor_id] }),
    page_id,
    component_id: await create(`/status-pages/${page_id}/components`, { name: 'Shop', monitor_id }),
    group_id: await create(`/status-pages/${page_id}/groups`, { name: 'Europe' }),
    subscriber_id: await subscribe(api, key, page_id),
    log_id: await create(`/alerts/channels/${alert_channel_id}/test`),
    api_key_id: await create('/api-keys', { name: 'spare', scope: 'read' }),
    dependency_id: await create('/dependencies', { slug: 'github' }),
    data_source_id,
    field_id: await create(`/data-sources/${data_source_id}/fields`, FIELD),
    chat_installation_id: await insertChatInstallation(api, projectId),
    on_call_user_id: userId,
  }
}

/** A body that each operation takes, with every property that it knows. A new operation with a body needs a line. */
export function bodyOf({ name }: Operation, records: Records): Record<string, unknown> {
  const { auth_type, auth_config, heartbeat_interval, heartbeat_grace, screenshot_threshold, ...update } = MONITOR
  const rule = { monitor_id: records.monitor_id, alert_channel_id: records.alert_channel_id }
  const switches = { on_down: true, on_recovery: true, on_degraded: false }
  const incident = { title: 'Shop is slow', severity: 'major', status: 'investigating' }
  const { monitor_id, component_id, group_id } = records
  const component = { name: 'Shop', description: 'sells', monitor_id, group_id, display_order: 3 }
  const group = { name: 'Europe', description: 'all of it', display_order: 2, is_collapsed: true }
  const domain = { domain: 'status.example.com' }
  const bodies: Record<string, Record<string, unknown>> = {
    'POST /agent/bootstrap': { email: `${uuidv7()}@example.com`, name: 'Ann' },
    'POST /api-keys': { name: 'CI', scope: 'read' },
    'POST /monitors': MONITOR,
    'POST /monitors/test': MONITOR,
    'POST /monitors/bulk': { monitors: [MONITOR] },
    'PUT /monitors/{id}': update,
    'PUT /monitors/{id}/auth': { auth_type, auth_config },
    'PUT /monitors/{id}/parents': { parent_ids: [records.parent_id] },
    'POST /maintenance-windows': { ...WINDOW, monitor_ids: [records.monitor_id] },
    'PUT /maintenance-windows/{id}': { ...WINDOW, monitor_ids: [records.monitor_id] },
    'POST /alerts/channels': CHANNEL,
    'PUT /alerts/channels/{id}': CHANNEL,
    'POST /alerts/rules': { ...rule, ...switches },
    'PUT /alerts/rules/{id}': { ...rule, ...switches, remind_every_minutes: 30 },
    'PUT /alerts/settings': {
      is_digest_enabled: true,
      digest_threshold: 10,
      on_call_user_id: records.on_call_user_id,
    },
    'POST /alerts/relay/redrive': { channel_id: records.alert_channel_id },
    'POST /incidents': { ...incident, message: 'We are looking.', monitor_ids: [records.monitor_id] },
    'PUT /incidents/{id}': incident,
    'POST /incidents/{id}/updates': { message: 'Found it.', status: 'identified', is_internal: false },
    'POST /status-pages': newPage(),
    'PUT /status-pages/{id}': PAGE_UPDATE,
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
    'POST /data-sources': SOURCE,
    'POST /data-sources/preview': SOURCE,
    'PUT /data-sources/{id}': { ...SOURCE, fields: [{ id: records.field_id, ...FIELD }] },
    'POST /data-sources/{id}/fields': FIELD,
    'PUT /data-sources/{id}/fields/{field_id}': FIELD,
    'POST /data-sources/{id}/publish': { status_page_id: records.page_id, group_id, field_ids: [records.field_id] },
    'POST /import': fileWith(records),
    'POST /alerts/project-channels': { alert_channel_id: records.alert_channel_id, alert_type: 'incident' },
  }
  const body = bodies[name]
  if (!body) throw new Error(`test/support/records.ts has no body for ${name}`)
  return body
}

/** A file of an entry of each kind, with every property that it knows. What it refers to is there by its id. */
function fileWith({ monitor_id, parent_id, alert_channel_id }: Records): Record<string, unknown> {
  const entry = { name: 'Filed', description: 'sells', monitor: monitor_id }
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
    status_pages: [
      {
        id: uuidv7(),
        ...newPage(),
        ...PAGE_UPDATE,
        components: [
          { id: uuidv7(), ...entry },
          {
            id: uuidv7(),
            name: 'Inside',
            description: 'all of it',
            is_collapsed: true,
            components: [{ id: uuidv7(), ...entry, name: 'Shop inside' }],
          },
        ],
      },
    ],
  }
}

/** Which record the `{id}` of a path is. A new kind of path needs a line. */
export function pathIdOf({ path }: Operation, records: Records): string | null {
  if (!path.includes('{id}')) return null
  const kinds: [RegExp, keyof Records][] = [
    [/^\/monitors\//, 'monitor_id'],
    [/^\/maintenance-windows\//, 'window_id'],
    [/^\/alerts\/channels\//, 'alert_channel_id'],
    [/^\/alerts\/rules\//, 'rule_id'],
    [/^\/alerts\/project-channels\//, 'subscription_id'],
    [/^\/alerts\/log\//, 'log_id'],
    [/^\/incidents\//, 'incident_id'],
    [/^\/api-keys\//, 'api_key_id'],
    [/^\/chat\/installations\//, 'chat_installation_id'],
    [/^\/status-pages\//, 'page_id'],
    [/^\/dependencies\//, 'dependency_id'],
    [/^\/data-sources\//, 'data_source_id'],
  ]
  const kind = kinds.find(([pattern]) => pattern.test(path))
  if (!kind) throw new Error(`test/support/records.ts does not know the records of ${path}`)
  return records[kind[1]]
}

/** The address of an operation on these records, with the query that it requires. */
export function addressOf(operation: Operation, records: Records, id = pathIdOf(operation, records)): string {
  const required = operation.query.filter(({ required }) => required)
  const query = required.map(({ name }) => `${name}=${records[name as keyof Records]}`).join('&')
  const inner = {
    '{cid}': records.component_id,
    '{gid}': records.group_id,
    '{sid}': records.subscriber_id,
    '{field_id}': records.field_id,
  }
  const path = Object.entries(inner).reduce((path, [name, id]) => path.replace(name, id), operation.path)
  return path.replace('{id}', id ?? '') + (query && `?${query}`)
}

/** Publishes the page; somebody subscribes to it by its form, and has confirmed. */
async function subscribe(api: ApiServer, key: string, pageId: string): Promise<string> {
  const { body } = await api.call('PUT', `/status-pages/${pageId}`, { key, body: { is_published: true } })
  const form = new URLSearchParams({ email: 'ann@example.com' })
  await fetch(`${api.origin}/status/${body.data.slug}/subscribe`, { method: 'POST', body: form })
  const confirm = 'UPDATE page_subscribers SET confirmed_at = now() WHERE page_id = ? RETURNING id'
  return (await query<{ id: string }>(api.db, confirm, [pageId]))[0]!.id
}

/** A comparison that the baseline can be set to; nothing asks for its bytes. */
async function insertScreenshot(api: ApiServer, projectId: string, monitorId: string): Promise<void> {
  const bindings = { id: uuidv7(), probeId: uuidv7(), projectId, monitorId, url: MONITOR.url }
  await execute(
    api.db,
    `INSERT INTO screenshots (id, project_id, monitor_id, region, taken_in, probe_id, scheduled_at, attempt, kind,
       content_type, size_bytes, store_key, difference, created_at)
     VALUES (:id, :projectId, :monitorId, 'us-east', 'us-east', :probeId, now(), 1, 'comparison', 'image/png', 1,
       'nowhere', 0, now())`,
    bindings,
  )
  await execute(
    api.db,
    `INSERT INTO screenshot_baselines (monitor_id, region, url, screenshot_id, compared_id, difference, updated_at)
     VALUES (:monitorId, 'us-east', :url, :id, :id, 0, now())`,
    bindings,
  )
}

/** One that its team has ended: nothing is left to be revoked. */
async function insertChatInstallation(api: ApiServer, projectId: string): Promise<string> {
  const id = uuidv7()
  await execute(
    api.db,
    `INSERT INTO chat_installations (id, project_id, team_id, team_name, scopes, tokens, people_due_at, installed_at,
       revoked_at, created_at, updated_at)
     VALUES (:id, :projectId, 'T1', 'Team', '{chat:write}', '', now(), now(), now(), now(), now())`,
    { id, projectId },
  )
  return id
}
