import { type Static, Type } from 'typebox'
import { HTTP_METHODS, KEYWORD_TYPES, MONITOR_TYPES, REGIONS } from '../../shared/check.ts'
import { HeaderMapSchema } from '../web/header-map.ts'
import { enumOf, lineText, Name, nullable, pageProperties, strictObject } from '../web/schemas.ts'
import { AUTH_TYPES } from './types.ts'

const DAY_SECONDS = 86_400

// The bounds are the specification's ("Monitor"); where it gives none, ours keep one monitor's share of a probe small.
const Url = lineText(1, 2_048)
const Body = Type.String({ maxLength: 262_144 })
const Keyword = Type.String({ minLength: 1, maxLength: 1_000 })
const Tags = Type.Array(lineText(1, 50), { maxItems: 50 })
const AssertionText = Type.String({ maxLength: 1_000 })
const Assertions = Type.Array(strictObject({ type: AssertionText, operator: AssertionText, value: AssertionText }), {
  maxItems: 50,
})
const AuthConfig = Type.Record(Type.String(), Type.Unknown(), { maxProperties: 20 })

/** What POST, PUT and the bulk create take alike. Defaults are in fields.ts. */
const changeable = {
  method: Type.Optional(enumOf(HTTP_METHODS)),
  interval_seconds: Type.Optional(Type.Integer({ minimum: 30, maximum: 3_600 })),
  timeout_ms: Type.Optional(Type.Integer({ minimum: 1_000, maximum: 60_000 })),
  regions: Type.Optional(Type.Array(enumOf(REGIONS), { minItems: 1, uniqueItems: true })),
  keyword_type: Type.Optional(enumOf(KEYWORD_TYPES)),
  ssl_check: Type.Optional(Type.Boolean()),
  domain_check: Type.Optional(Type.Boolean()),
  screenshot_on_failure: Type.Optional(Type.Boolean()),
  screenshot_compare: Type.Optional(Type.Boolean()),
  retry_count: Type.Optional(Type.Integer({ minimum: 0, maximum: 5 })),
}

/** Only `name` and `type` are required (decisions 3.2). */
export const MonitorCreate = strictObject({
  ...changeable,
  name: Name,
  type: enumOf(MONITOR_TYPES),
  url: Type.Optional(Url),
  headers: Type.Optional(HeaderMapSchema),
  body: Type.Optional(Body),
  assertions: Type.Optional(Assertions),
  auth_type: Type.Optional(enumOf(AUTH_TYPES)),
  auth_config: Type.Optional(AuthConfig),
  keyword: Type.Optional(Keyword),
  heartbeat_interval: Type.Optional(Type.Integer({ minimum: 30, maximum: 31 * DAY_SECONDS, description: 'seconds' })),
  heartbeat_grace: Type.Optional(Type.Integer({ minimum: 0, maximum: 31 * DAY_SECONDS, description: 'seconds' })),
  screenshot_threshold: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  tags: Type.Optional(Tags),
})
export type MonitorCreate = Static<typeof MonitorCreate>

/** Credentials, heartbeat times and the screenshot threshold are not changed here (decisions 3.3). */
export const MonitorUpdate = strictObject({
  ...changeable,
  name: Type.Optional(Name),
  type: Type.Optional(enumOf(MONITOR_TYPES)),
  url: Type.Optional(nullable(Url)),
  headers: Type.Optional(nullable(HeaderMapSchema)),
  body: Type.Optional(nullable(Body)),
  assertions: Type.Optional(nullable(Assertions)),
  keyword: Type.Optional(nullable(Keyword)),
  tags: Type.Optional(nullable(Tags)),
})
export type MonitorUpdate = Static<typeof MonitorUpdate>

/** null and null: no credentials any more. */
export const AuthUpdate = strictObject({ auth_type: nullable(enumOf(AUTH_TYPES)), auth_config: nullable(AuthConfig) })

export const BULK_LIMIT = 50
export const MonitorBulk = strictObject({ monitors: Type.Array(MonitorCreate, { maxItems: BULK_LIMIT }) })

export const MonitorQuery = strictObject({
  ...pageProperties,
  type: Type.Optional(enumOf(MONITOR_TYPES)),
  status: Type.Optional(Type.String({ description: 'up, down, degraded; several separated by commas' })),
  tag: Type.Optional(Type.String({ description: 'has exactly this tag' })),
  q: Type.Optional(Type.String({ maxLength: 200, description: 'is part of the name or the url' })),
})
