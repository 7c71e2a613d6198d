import { type Static, Type } from 'typebox'
import { OPERATOR_NAMES } from '../../../../shared/assertions/operators.ts'
import { READERS } from '../../../../shared/assertions/readers.ts'
import { HTTP_METHODS, KEYWORD_TYPES, MONITOR_TYPES, REGIONS } from '../../../../shared/checks/check.ts'
import { HeaderMapSchema } from '../../../foundation/web/masked-secrets/header-map.ts'
import {
  lineText,
  Name,
  nullable,
  pageProperties,
  strictObject,
  stringEnum,
} from '../../../foundation/web/validation/schemas.ts'
import { MONITOR_AUTH_TYPES } from '../types.ts'

const DAY_SECONDS = 86_400

// The bounds are the specification's ("Monitor"); where it gives none, ours keep one monitor's share of a probe small.
const Url = Type.String({
  ...lineText(1, 2_048),
  description:
    'An http(s) URL; for ping, tcp and dns also host, host:port, ping://host, tcp://host:port, dns://name, or ' +
    'dns://server[:port]/name?type=MX (A, AAAA, CNAME, MX, TXT, NS, SOA, SRV, CAA)',
})
const Body = Type.String({ maxLength: 262_144 })
const Keyword = Type.String({ minLength: 1, maxLength: 1_000 })
const Tags = Type.Array(lineText(1, 50), { maxItems: 50 })
const buildAssertionText = (description: string) => Type.String({ maxLength: 1_000, description })
const Assertions = Type.Array(
  strictObject({
    type: buildAssertionText(Object.keys(READERS).join(', ')),
    operator: buildAssertionText(`${OPERATOR_NAMES.join(', ')}; which of them a type takes, a refusal says`),
    value: buildAssertionText(
      'times in milliseconds; a header as "Name: text", a place in JSON as "$.items[0].name: text", for exists and ' +
        'not_exists without the text',
    ),
  }),
  {
    maxItems: 50,
    description:
      'all have to hold for a check to be up; a time that is too long makes it degraded; without one on status_code, 200 to 399 is up',
  },
)
const AuthConfig = Type.Record(Type.String(), Type.Unknown(), {
  maxProperties: 20,
  description: 'basic: { username, password }; bearer: { token }; header: { name, value }',
})

/** What a create that does not name a field gets (specification, "Monitor"; decisions 3.2). */
export const CREATE_DEFAULTS = {
  method: 'GET',
  interval_seconds: 60,
  timeout_ms: 30_000,
  regions: ['us-east'],
  keyword_type: 'contains',
  heartbeat_grace: 60,
  ssl_check: false,
  domain_check: false,
  screenshot_on_failure: true,
  screenshot_compare: false,
  screenshot_threshold: 0.05,
  retry_count: 2,
  witness: true,
  witness_with_credentials: false,
} as const

/** What POST, PUT and the bulk create take alike; an update has no defaults. */
const buildChangeableFields = (defaults: Partial<typeof CREATE_DEFAULTS>) => ({
  method: Type.Optional(stringEnum(HTTP_METHODS, toDefault(defaults.method))),
  interval_seconds: Type.Optional(
    Type.Integer({ minimum: 30, maximum: 3_600, ...toDefault(defaults.interval_seconds) }),
  ),
  timeout_ms: Type.Optional(Type.Integer({ minimum: 1_000, maximum: 60_000, ...toDefault(defaults.timeout_ms) })),
  regions: Type.Optional(
    Type.Array(stringEnum(REGIONS), { minItems: 1, uniqueItems: true, ...toDefault(defaults.regions) }),
  ),
  keyword_type: Type.Optional(stringEnum(KEYWORD_TYPES, toDefault(defaults.keyword_type))),
  ssl_check: Type.Optional(Type.Boolean(toDefault(defaults.ssl_check))),
  domain_check: Type.Optional(Type.Boolean(toDefault(defaults.domain_check))),
  screenshot_on_failure: Type.Optional(Type.Boolean(toDefault(defaults.screenshot_on_failure))),
  screenshot_compare: Type.Optional(Type.Boolean(toDefault(defaults.screenshot_compare))),
  retry_count: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 5,
      ...toDefault(defaults.retry_count),
      description: 'checks within seconds that have to confirm a worse result',
    }),
  ),
  witness: Type.Optional(
    Type.Boolean({
      ...toDefault(defaults.witness),
      description:
        'probes of other regions may check the monitor when many hosts begin to fail for a region at once: a status of 500 or more confirms the failure, any other answer contradicts it, no answer changes nothing; they never vote',
    }),
  ),
  witness_with_credentials: Type.Optional(
    Type.Boolean({
      ...toDefault(defaults.witness_with_credentials),
      description:
        'those probes get the credentials, headers, body and query of the monitor too; without them they only look whether the address answers',
    }),
  ),
})

const toDefault = <T>(value: T | undefined) => (value === undefined ? {} : { default: value })

/** Only `name` and `type` are required (decisions 3.2). Null is the same as left out, so that what was read can be sent. */
export const MonitorCreate = strictObject(
  {
    ...buildChangeableFields(CREATE_DEFAULTS),
    name: Name,
    type: stringEnum(MONITOR_TYPES),
    url: Type.Optional(nullable(Url)),
    headers: Type.Optional(nullable(HeaderMapSchema)),
    body: Type.Optional(nullable(Body)),
    assertions: Type.Optional(nullable(Assertions)),
    auth_type: Type.Optional(nullable(stringEnum(MONITOR_AUTH_TYPES))),
    auth_config: Type.Optional(nullable(AuthConfig)),
    keyword: Type.Optional(nullable(Keyword)),
    heartbeat_interval: Type.Optional(
      nullable(Type.Integer({ minimum: 30, maximum: 31 * DAY_SECONDS, description: 'seconds' })),
    ),
    heartbeat_grace: Type.Optional(
      nullable(Type.Integer({ minimum: 0, maximum: 31 * DAY_SECONDS, description: 'seconds' }), {
        default: CREATE_DEFAULTS.heartbeat_grace,
      }),
    ),
    screenshot_threshold: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        default: CREATE_DEFAULTS.screenshot_threshold,
        description: 'the share of pixels that may differ from the screenshot before',
      }),
    ),
    tags: Type.Optional(nullable(Tags)),
  },
  {
    title: 'MonitorCreate',
    examples: [
      {
        name: 'Shop',
        type: 'http',
        url: 'https://shop.example.com/health',
        interval_seconds: 60,
        regions: ['us-east', 'eu-west', 'ap-southeast'],
        assertions: [
          { type: 'status_code', operator: 'equals', value: '200' },
          { type: 'json_path', operator: 'equals', value: '$.database.status: ok' },
          { type: 'response_time', operator: 'less_than', value: '800' },
        ],
        tags: ['production'],
      },
      { name: 'Nightly backup', type: 'heartbeat', heartbeat_interval: 86_400, heartbeat_grace: 3_600 },
    ],
  },
)
export type MonitorCreate = Static<typeof MonitorCreate>

/** Credentials, heartbeat times and the screenshot threshold are not changed here (decisions 3.3). */
export const MonitorUpdate = strictObject(
  {
    ...buildChangeableFields({}),
    name: Type.Optional(Name),
    type: Type.Optional(stringEnum(MONITOR_TYPES)),
    url: Type.Optional(nullable(Url)),
    headers: Type.Optional(nullable(HeaderMapSchema)),
    body: Type.Optional(nullable(Body)),
    assertions: Type.Optional(nullable(Assertions)),
    keyword: Type.Optional(nullable(Keyword)),
    tags: Type.Optional(nullable(Tags)),
  },
  { title: 'MonitorUpdate' },
)
export type MonitorUpdate = Static<typeof MonitorUpdate>

/** null and null: no credentials any more. */
export const AuthUpdate = strictObject({
  auth_type: nullable(stringEnum(MONITOR_AUTH_TYPES)),
  auth_config: nullable(AuthConfig),
})

export const MAX_BULK_MONITORS = 50
export const MonitorBulk = strictObject({ monitors: Type.Array(MonitorCreate, { maxItems: MAX_BULK_MONITORS }) })
/** The same, whatever its items are: they are checked one by one. */
export const MonitorList = strictObject({ monitors: Type.Array(Type.Unknown(), { maxItems: MAX_BULK_MONITORS }) })

export const MonitorQuery = strictObject({
  ...pageProperties,
  type: Type.Optional(stringEnum(MONITOR_TYPES)),
  status: Type.Optional(Type.String({ description: 'up, down, degraded; several separated by commas' })),
  tag: Type.Optional(Type.String({ description: 'has exactly this tag' })),
  q: Type.Optional(Type.String({ maxLength: 200, description: 'is part of the name or the url' })),
})
