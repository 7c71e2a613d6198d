import { Type } from 'typebox'
import { HTTP_METHODS, KEYWORD_TYPES, MONITOR_TYPES, REGIONS } from '../../../../shared/checks/check.ts'
import { Id, nullable, stringEnum, Timestamp } from '../../../foundation/web/validation/schemas.ts'
import { MONITOR_AUTH_TYPES, MONITOR_STATUSES } from '../types.ts'

const Text = nullable(Type.String())
const Whole = nullable(Type.Integer())
const Time = nullable(Timestamp)

/** A monitor in the API, as `toMonitorResponse` builds it. Only documents the response; it validates nothing. */
export const MonitorRecord = Type.Object(
  {
    id: Id,
    name: Type.String(),
    type: stringEnum(MONITOR_TYPES),
    url: Text,
    method: stringEnum(HTTP_METHODS),
    headers: nullable(Type.Record(Type.String(), Type.String())),
    body: Text,
    interval_seconds: Type.Integer(),
    timeout_ms: Type.Integer(),
    regions: Type.Array(stringEnum(REGIONS)),
    assertions: nullable(
      Type.Array(Type.Object({ type: Type.String(), operator: Type.String(), value: Type.String() })),
    ),
    auth_type: nullable(stringEnum(MONITOR_AUTH_TYPES)),
    auth_config: nullable(Type.Record(Type.String(), Type.Unknown())),
    keyword: Text,
    keyword_type: stringEnum(KEYWORD_TYPES),
    heartbeat_interval: Whole,
    heartbeat_grace: Whole,
    ssl_check: Type.Boolean(),
    domain_check: Type.Boolean(),
    screenshot_on_failure: Type.Boolean(),
    screenshot_compare: Type.Boolean(),
    screenshot_threshold: Type.Number(),
    retry_count: Type.Integer(),
    witness: Type.Boolean(),
    witness_with_credentials: Type.Boolean(),
    tags: nullable(Type.Array(Type.String())),
    status: nullable(stringEnum(MONITOR_STATUSES)),
    status_changed_at: Time,
    last_checked_at: Time,
    is_paused: Type.Boolean(),
    ping_url: nullable(Type.String({ description: 'Only for heartbeats. Masked for read keys.' })),
    ssl_expires_at: Time,
    domain_expires_at: Time,
    data_source: nullable(
      Type.Object(
        { id: Id, name: Type.String(), field_id: nullable(Id), key: Type.String() },
        { description: 'The data source whose value this monitor is. Null when probes check it or it receives pings.' },
      ),
    ),
    configuration_issues: Type.Array(Type.String(), {
      description:
        'Why the monitor is not checked. "no_probe: …" names regions without a live probe, "unchecked: …" gives the time since which no check has counted, "data_source_paused: …" is for monitors of a paused data source.',
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Monitor' },
)
