import { v7 as uuidv7 } from 'uuid'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import type { ApiServer } from './api-server.ts'
import { CHANNEL, FIELD, HOOK, MONITOR, newPage, SILENCE, SOURCE, WINDOW } from './bodies.ts'
import { unwrapData } from './client.ts'
import type { Operation } from './operations.ts'
import type { Tenant } from './tenant.ts'

type Account = Tenant & { key: string }

/** Ids of one record of each kind, by the name of the property or filter that refers to it. */
export type Records = {
  monitor_id: string
  /** a monitor that it may depend on */
  parent_id: string
  view_id: string
  wall_link_id: string
  window_id: string
  silence_id: string
  alert_channel_id: string
  rule_id: string
  subscription_id: string
  incident_id: string
  template_id: string
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
  chat_identity_id: string
  /** with a plan */
  import_id: string
  /** a member */
  on_call_user_id: string
  member_id: string
}

/** A PNG of one pixel. */
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** Creates one record of each kind, by the API where possible. */
export async function createRecords(
  api: ApiServer,
  { key, projectId, userId }: Account,
  hook = HOOK,
): Promise<Records> {
  const picket = api.picket(key)
  const unwrapId = async (made: Parameters<typeof unwrapData<{ id: string }>>[0]) => (await unwrapData(made)).id
  const monitor_id = await unwrapId(picket.createMonitor({ body: MONITOR }))
  const channel = { ...CHANNEL, config: { ...CHANNEL.config, url: hook } }
  const alert_channel_id = await unwrapId(picket.createAlertChannel({ body: channel }))
  await insertScreenshot(api, projectId, monitor_id)
  const parent_id = await unwrapId(picket.createMonitor({ body: { ...MONITOR, name: 'Router' } }))
  const page_id = await unwrapId(picket.createStatusPage({ body: newPage() }))
  const ofPage = { path: { id: page_id } }
  await uploadImages(api, key, page_id)
  const data_source_id = await unwrapId(picket.createDataSource({ body: SOURCE }))
  const window = { ...WINDOW, monitor_ids: [monitor_id] }
  const subscription = { alert_channel_id, alert_type: 'dependency_incident' } as const
  const incident = { title: 'Shop is down', monitor_ids: [monitor_id] }
  return {
    monitor_id,
    parent_id,
    view_id: await unwrapId(picket.createView({ body: { name: 'Shop', query: 'tag:shop' } })),
    wall_link_id: await unwrapId(picket.createWallLink({ body: { name: 'Office', query: 'tag:shop' } })),
    window_id: await unwrapId(picket.createMaintenanceWindow({ body: window })),
    silence_id: await unwrapId(picket.createSilence({ body: { ...SILENCE, monitor_ids: [monitor_id] } })),
    alert_channel_id,
    rule_id: await unwrapId(picket.createAlertRule({ body: { monitor_id, alert_channel_id } })),
    subscription_id: await unwrapId(picket.createAlertProjectChannel({ body: subscription })),
    incident_id: await unwrapId(picket.createIncident({ body: incident })),
    template_id: await unwrapId(picket.createIncidentTemplate({ body: { name: 'Provider', message: 'It is known.' } })),
    page_id,
    component_id: await unwrapId(picket.createStatusPageComponent({ ...ofPage, body: { name: 'Shop', monitor_id } })),
    group_id: await unwrapId(picket.createStatusPageGroup({ ...ofPage, body: { name: 'Europe' } })),
    subscriber_id: await subscribe(api, key, page_id),
    log_id: await unwrapId(picket.testAlertChannel({ path: { id: alert_channel_id } })),
    api_key_id: await unwrapId(picket.createApiKey({ body: { name: 'spare', scope: 'read' } })),
    dependency_id: await unwrapId(picket.createDependency({ body: { slug: 'github' } })),
    data_source_id,
    field_id: await unwrapId(picket.createDataSourceField({ path: { id: data_source_id }, body: FIELD })),
    chat_installation_id: await insertChatInstallation(api, projectId),
    chat_identity_id: await insertChatIdentity(api, projectId, userId),
    import_id: await insertImport(api, projectId),
    on_call_user_id: userId,
    member_id: await addMember(api, key),
  }
}

/** The kind of record of the `{id}` of a path. A new kind of path needs a line. */
export function getPathId({ path }: Operation, records: Records): string | null {
  if (!path.includes('{id}')) return null
  const kinds: [RegExp, keyof Records][] = [
    [/^\/monitors\//, 'monitor_id'],
    [/^\/views\//, 'view_id'],
    [/^\/wall-links\//, 'wall_link_id'],
    [/^\/maintenance-windows\//, 'window_id'],
    [/^\/silences\//, 'silence_id'],
    [/^\/alerts\/channels\//, 'alert_channel_id'],
    [/^\/alerts\/rules\//, 'rule_id'],
    [/^\/alerts\/project-channels\//, 'subscription_id'],
    [/^\/alerts\/log\//, 'log_id'],
    [/^\/incidents\//, 'incident_id'],
    [/^\/incident-templates\//, 'template_id'],
    [/^\/api-keys\//, 'api_key_id'],
    [/^\/members\//, 'member_id'],
    [/^\/chat\/installations\//, 'chat_installation_id'],
    [/^\/chat\/identities\//, 'chat_identity_id'],
    [/^\/status-pages\//, 'page_id'],
    [/^\/dependencies\//, 'dependency_id'],
    [/^\/data-sources\//, 'data_source_id'],
    [/^\/imports\//, 'import_id'],
  ]
  const kind = kinds.find(([pattern]) => pattern.test(path))
  if (!kind) throw new Error(`test/support/records.ts does not know the records of ${path}`)
  return records[kind[1]]
}

/** The address of an operation on these records, with the required query. */
export function buildAddress(operation: Operation, records: Records, id = getPathId(operation, records)): string {
  const required = operation.query.filter(({ required }) => required)
  const idsByName: Record<string, string> = { ...records, monitor_ids: `${records.monitor_id},${records.parent_id}` }
  const query = required.map(({ name }) => `${name}=${idsByName[name]}`).join('&')
  const inner = {
    '{cid}': records.component_id,
    '{gid}': records.group_id,
    '{sid}': records.subscriber_id,
    '{field_id}': records.field_id,
  }
  const path = Object.entries(inner).reduce((path, [name, id]) => path.replace(name, id), operation.path)
  return path.replace('{id}', id ?? '') + (query && `?${query}`)
}

/** An import whose plan changes nothing. */
async function insertImport(api: ApiServer, projectId: string): Promise<string> {
  const id = uuidv7()
  await execute(
    api.db,
    `INSERT INTO import_jobs (id, project_id, status, source, prune, has_file, alive_at, created_at, updated_at)
     VALUES (?, ?, 'ready', 'picket', false, true, now(), now(), now())`,
    [id, projectId],
  )
  return id
}

/** Gives a page a logo and a favicon. */
async function uploadImages(api: ApiServer, key: string, pageId: string): Promise<void> {
  const image = { key, body: PIXEL, headers: { 'content-type': 'image/png' } }
  for (const kind of ['logo', 'favicon']) await api.call('PUT', `/status-pages/${pageId}/${kind}`, image)
}

/** Publishes the page and adds a confirmed subscriber by its form. */
async function subscribe(api: ApiServer, key: string, pageId: string): Promise<string> {
  const { body } = await api.call('PUT', `/status-pages/${pageId}`, { key, body: { is_published: true } })
  const form = new URLSearchParams({ email: 'ann@example.com' })
  await fetch(`${api.origin}/status/${body.data.slug}/subscribe`, { method: 'POST', body: form })
  const confirm = 'UPDATE page_subscribers SET confirmed_at = now() WHERE page_id = ? RETURNING id'
  return (await query<{ id: string }>(api.db, confirm, [pageId]))[0]!.id
}

/** A comparison that can become the baseline. Its bytes are not read. */
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

/** A chat installation that its team has removed, so nothing has to be revoked. */
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

/** A chat user of that team who is linked with a member. */
async function insertChatIdentity(api: ApiServer, projectId: string, userId: string): Promise<string> {
  const id = uuidv7()
  await execute(
    api.db,
    `INSERT INTO chat_identities (id, project_id, team_id, chat_user_id, user_id, created_at, updated_at)
     VALUES (:id, :projectId, 'T1', 'U1', :userId, now(), now())`,
    { id, projectId, userId },
  )
  return id
}

/** An invited member without a password. */
async function addMember(api: ApiServer, key: string): Promise<string> {
  const { body } = await api.call('POST', '/agent/invite', { key, body: { email: `${uuidv7()}@example.com` } })
  return body.data.user_id
}
