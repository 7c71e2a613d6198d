type Schema = Record<string, unknown>

/** A published resource: the fields that its bodies accept and that an answer contains. */
export type Resource = {
  name: string
  create?: { operation: string; required: string[]; fields: Record<string, Schema> }
  /** `refuses`: fields that a create accepts and an update does not */
  update?: { operation: string; fields: Record<string, Schema>; refuses?: string[] }
  /** an operation that returns one record or a list */
  answer?: { operation: string; fields: string[] }
}

const text = { type: 'string' }
const integer = { type: 'integer' }
const flag = { type: 'boolean' }
const object = { type: 'object' }
const list = { type: 'array' }
const orNull = (schema: Schema) => ({ ...schema, nullable: true })
const createEnum = (...values: string[]) => ({ ...text, enum: values })
const sized = (minLength: number, maxLength: number) => ({ ...text, minLength, maxLength })
const between = (minimum: number, maximum: number) => ({ ...integer, minimum, maximum })

const name = sized(1, 100)
const timeout = between(1_000, 60_000)
const severity = createEnum('minor', 'major', 'critical')
const incidentStatus = createEnum('investigating', 'identified', 'monitoring', 'resolved')
const template = createEnum('minimal', 'brand', 'terminal', 'modern', 'clean', 'developer')
const brand_color = { ...text, pattern: '^#[0-9a-fA-F]{6}$' }
const regions = {
  ...list,
  items: createEnum('us-east', 'us-west', 'eu-west', 'eu-central', 'ap-southeast', 'ap-northeast'),
}
const method = createEnum('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS')
const keyword_type = createEnum('contains', 'not_contains', 'regex')
const interval_seconds = between(30, 3_600)
const retry_count = between(0, 5)
const tags = { ...list, items: { ...text, maxLength: 50 } }
const type = createEnum('http', 'ping', 'tcp', 'dns', 'keyword', 'heartbeat')

const monitor = {
  name,
  type,
  url: text,
  method: { ...method, default: 'GET' },
  headers: object,
  body: text,
  interval_seconds: { ...interval_seconds, default: 60 },
  timeout_ms: { ...timeout, default: 30_000 },
  regions: { ...regions, default: ['us-east'] },
  assertions: { ...list, items: { ...object, required: ['type', 'operator', 'value'], additionalProperties: false } },
  auth_type: createEnum('basic', 'bearer', 'header'),
  auth_config: object,
  keyword: text,
  keyword_type: { ...keyword_type, default: 'contains' },
  heartbeat_interval: integer,
  heartbeat_grace: integer,
  ssl_check: { ...flag, default: false },
  domain_check: { ...flag, default: false },
  screenshot_on_failure: { ...flag, default: true },
  screenshot_compare: { ...flag, default: false },
  screenshot_threshold: { type: 'number', minimum: 0, maximum: 1, default: 0.05 },
  retry_count: { ...retry_count, default: 2 },
  tags,
}

const field = {
  id: text,
  path: text,
  name_template: text,
  rule_type: createEnum('equals', 'in', 'diff_lte', 'truthy', 'http_ok'),
  rule_config: object,
  degraded_rule_config: orNull(object),
  display_order: {},
}
const fields = {
  ...list,
  items: { ...object, required: ['path', 'name_template', 'rule_type', 'rule_config'], properties: field },
}
const source = {
  name: { ...text, minLength: 1 },
  description: orNull(text),
  url: text,
  method: createEnum('GET', 'POST'),
  headers: orNull(object),
  body: orNull(text),
  auth_type: orNull(text),
  auth_config: orNull(object),
  root_path: orNull(text),
  fetch_interval_s: { ...integer, minimum: 30 },
  timeout_ms: timeout,
  fields,
}

export const RESOURCES: Resource[] = [
  {
    name: 'Monitor',
    create: { operation: 'POST /monitors', required: ['name', 'type'], fields: monitor },
    update: {
      operation: 'PUT /monitors/{id}',
      fields: {
        ...{ name, type, url: orNull(text), method, headers: orNull(object), body: orNull(text), interval_seconds },
        ...{ timeout_ms: timeout, regions, assertions: orNull(list), keyword: orNull(text), keyword_type },
        ...{ ssl_check: flag, domain_check: flag, screenshot_on_failure: flag, screenshot_compare: flag },
        ...{ retry_count, tags: orNull(tags) },
      },
      refuses: ['auth_type', 'auth_config', 'heartbeat_interval', 'heartbeat_grace', 'screenshot_threshold'],
    },
    answer: { operation: 'PUT /monitors/{id}', fields: Object.keys(monitor) },
  },
  {
    name: 'Incident',
    create: {
      operation: 'POST /incidents',
      required: ['title'],
      fields: {
        title: sized(1, 200),
        severity: { ...severity, default: 'minor' },
        status: { ...incidentStatus, default: 'investigating' },
        message: text,
        monitor_ids: list,
      },
    },
    update: { operation: 'PUT /incidents/{id}', fields: { title: sized(1, 200), severity, status: incidentStatus } },
    answer: {
      operation: 'GET /incidents',
      fields: [
        ...['id', 'title', 'severity', 'status', 'monitor_ids', 'started_at', 'resolved_at'],
        ...['acknowledged_at', 'acknowledged_by'],
      ],
    },
  },
  {
    name: 'Incident status update',
    create: {
      operation: 'POST /incidents/{id}/updates',
      required: ['message'],
      fields: { message: { ...text, minLength: 1 }, status: incidentStatus, is_internal: { ...flag, default: false } },
    },
  },
  {
    name: 'Status page',
    create: {
      operation: 'POST /status-pages',
      required: ['name', 'slug'],
      fields: {
        name,
        slug: { ...sized(1, 50), pattern: '^[a-z0-9-]+$' },
        template: { ...template, default: 'minimal' },
        brand_color: { ...brand_color, default: '#2563eb' },
      },
    },
    update: {
      operation: 'PUT /status-pages/{id}',
      fields: {
        ...{ name, logo_url: orNull(text), favicon_url: orNull(text), brand_color, custom_css: orNull(text), template },
        ...{ seo_title: orNull(text), seo_description: orNull(text), is_published: flag, show_response_times: flag },
        show_uptime_percentage: flag,
      },
    },
  },
  {
    name: 'Status page component',
    create: {
      operation: 'POST /status-pages/{id}/components',
      required: ['name'],
      fields: { name, description: orNull(text), monitor_id: orNull(text) },
    },
  },
  {
    name: 'Status page component group',
    update: {
      operation: 'PUT /status-pages/{id}/groups/{gid}',
      fields: { name: text, description: text, display_order: integer, is_collapsed: flag },
    },
  },
  {
    name: 'Alert channel',
    create: {
      operation: 'POST /alerts/channels',
      required: ['name', 'type', 'config'],
      fields: {
        name,
        type: createEnum('chat_a', 'chat_b', 'webhook', 'chat_c', 'email'),
        config: object,
        is_default: flag,
      },
    },
    answer: { operation: 'POST /alerts/channels', fields: ['name', 'type', 'config', 'is_default', 'signing_secret'] },
  },
  {
    name: 'Alert rule',
    create: {
      operation: 'POST /alerts/rules',
      required: ['monitor_id', 'alert_channel_id'],
      fields: {
        monitor_id: { ...text, minLength: 1 },
        alert_channel_id: { ...text, minLength: 1 },
        ...{ on_down: flag, on_recovery: flag, on_degraded: flag },
      },
    },
    answer: {
      operation: 'GET /alerts/rules',
      fields: ['monitor_id', 'alert_channel_id', 'on_down', 'on_recovery', 'on_degraded'],
    },
  },
  {
    name: 'Project-level channel subscription',
    create: {
      operation: 'POST /alerts/project-channels',
      required: ['alert_channel_id', 'alert_type'],
      fields: { alert_channel_id: text, alert_type: createEnum('incident', 'dependency_incident') },
    },
  },
  {
    name: 'Data source',
    create: {
      operation: 'POST /data-sources',
      required: ['name', 'url'],
      fields: { ...source, auth_type: orNull(createEnum('basic', 'bearer', 'api_key')) },
    },
    update: { operation: 'PUT /data-sources/{id}', fields: source },
    answer: { operation: 'GET /data-sources', fields: Object.keys(source) },
  },
  {
    name: 'Data source field',
    answer: { operation: 'GET /data-sources/{id}/fields', fields: Object.keys(field) },
  },
  {
    name: 'Chat installation',
    answer: {
      operation: 'GET /chat/installations',
      fields: ['id', 'team_id', 'team_name', 'installed_by', 'installed_at', 'scopes'],
    },
  },
  {
    name: 'Bootstrap',
    create: { operation: 'POST /agent/bootstrap', required: ['email'], fields: { email: text, name: text } },
    answer: {
      operation: 'POST /agent/bootstrap',
      fields: [
        ...['api_key', 'organization_id', 'user_id', 'email', 'claim_url', 'claim_expires_in', 'dashboard_url'],
        'message',
      ],
    },
  },
  {
    name: 'Invite',
    create: {
      operation: 'POST /agent/invite',
      required: ['email'],
      fields: { email: text, name: text, role: { ...createEnum('admin', 'editor', 'viewer'), default: 'editor' } },
    },
    answer: { operation: 'POST /agent/invite', fields: ['user_id', 'email', 'role', 'is_new_account', 'claim_url'] },
  },
  {
    name: 'Project',
    answer: { operation: 'GET /project', fields: ['id', 'name', 'plan', 'limits', 'embeds', 'status_pages'] },
  },
  {
    name: 'Publication of a data source',
    create: {
      operation: 'POST /data-sources/{id}/publish',
      required: ['status_page_id', 'field_ids'],
      fields: { status_page_id: text, group_id: orNull(text), field_ids: list },
    },
    answer: { operation: 'POST /data-sources/{id}/publish', fields: ['created_component_ids'] },
  },
]
