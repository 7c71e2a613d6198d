import { type Static, Type } from 'typebox'
import { ASSERTION_OPERATORS, OPERATOR_NAMES } from '../../../../shared/assertions/names.ts'
import { HTTP_METHODS, KEYWORD_TYPES, MONITOR_TYPES, REGIONS } from '../../../../shared/checks/check.ts'
import { HeaderMapSchema } from '../../../foundation/web/masked-secrets/header-map.ts'
import { lineText, Name, nullable, strictObject, stringEnum } from '../../../foundation/web/validation/schemas.ts'
import { MONITOR_AUTH_TYPES } from '../types.ts'
import { CREATE_DEFAULTS } from './defaults.ts'

const DAY_SECONDS = 86_400

// The maximum lengths limit a monitor's share of a probe's memory.
const Url = Type.String({
  ...lineText(1, 2_048),
  description:
    'An http(s) URL. ping, tcp and dns also accept host, host:port, ping://host, tcp://host:port, dns://name, and ' +
    'dns://server[:port]/name?type=MX (A, AAAA, CNAME, MX, TXT, NS, SOA, SRV, CAA).',
})
const Body = Type.String({ maxLength: 262_144 })
const Keyword = Type.String({ minLength: 1, maxLength: 1_000 })
const Tags = Type.Array(lineText(1, 50), { maxItems: 50 })
const buildAssertionText = (description: string) => Type.String({ maxLength: 1_000, description })
const Assertions = Type.Array(
  strictObject({
    type: buildAssertionText(Object.keys(ASSERTION_OPERATORS).join(', ')),
    operator: buildAssertionText(
      `${OPERATOR_NAMES.join(', ')}. Not every type accepts every operator; the error names the accepted ones.`,
    ),
    value: buildAssertionText(
      'Times are in milliseconds. header: "Name: text". json_path: "$.items[0].name: text". exists and not_exists: ' +
        'without the text.',
    ),
  }),
  {
    maxItems: 50,
    description:
      'A check is up when all assertions hold. A response time or phase that is too long makes it degraded. Without an assertion on status_code, 200 to 399 is up.',
  },
)
const AuthConfig = Type.Record(Type.String(), Type.Unknown(), {
  maxProperties: 20,
  description: 'basic: { username, password }; bearer: { token }; header: { name, value }',
})

/** The fields that POST, PUT and the bulk create have in common. An update has no defaults. */
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
      description: 'Number of re-checks, within seconds, that must confirm a worse result.',
    }),
  ),
  witness: Type.Optional(
    Type.Boolean({
      ...toDefault(defaults.witness),
      description:
        'Whether probes of other regions may check the monitor when many hosts begin to fail for a region at the same time. A status of 500 or more confirms the failure, any other answer contradicts it, and no answer has no effect. These probes never vote.',
    }),
  ),
  witness_with_credentials: Type.Optional(
    Type.Boolean({
      ...toDefault(defaults.witness_with_credentials),
      description:
        'Whether these probes also receive the credentials, headers, body and query of the monitor. Without them they only check whether the address answers.',
    }),
  ),
})

const toDefault = <T>(value: T | undefined) => (value === undefined ? {} : { default: value })

/** Only `name` and `type` are required. Null is the same as a missing field, so that a monitor that was read can be sent back. */
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
      nullable(Type.Integer({ minimum: 30, maximum: 31 * DAY_SECONDS, description: 'In seconds.' })),
    ),
    heartbeat_grace: Type.Optional(
      nullable(Type.Integer({ minimum: 0, maximum: 31 * DAY_SECONDS, description: 'In seconds.' }), {
        default: CREATE_DEFAULTS.heartbeat_grace,
      }),
    ),
    screenshot_threshold: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        default: CREATE_DEFAULTS.screenshot_threshold,
        description: 'The share of pixels that may differ from the baseline.',
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

/** An update does not accept credentials, heartbeat times and the screenshot threshold. */
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

/** Both null: deletes the credentials. */
export const AuthUpdate = strictObject({
  auth_type: nullable(stringEnum(MONITOR_AUTH_TYPES)),
  auth_config: nullable(AuthConfig),
})

const MAX_BULK_MONITORS = 50
export const MonitorBulk = strictObject({ monitors: Type.Array(MonitorCreate, { maxItems: MAX_BULK_MONITORS }) })
/** A bulk body with items of any shape. They are validated one by one. */
export const MonitorList = strictObject({ monitors: Type.Array(Type.Unknown(), { maxItems: MAX_BULK_MONITORS }) })
