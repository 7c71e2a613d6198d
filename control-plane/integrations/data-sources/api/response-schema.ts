import { Type } from 'typebox'
import { Id, nullable, stringEnum, Timestamp } from '../../../foundation/web/validation/schemas.ts'
import { MONITOR_STATUSES } from '../../../monitoring/monitors/types.ts'
import { AUTH_TYPES, METHODS, RULE_TYPES } from '../types.ts'

const Text = nullable(Type.String())
const Free = Type.Record(Type.String(), Type.Unknown())

const ChildMonitor = Type.Object({
  monitor_id: Id,
  key: Type.String({ description: 'what the wildcards of the path matched' }),
  name: Type.String(),
  status: nullable(stringEnum(MONITOR_STATUSES)),
})

/** A field in answers (decisions 9.1). Describes only; it validates nothing. */
export const FieldRecord = Type.Object(
  {
    id: Id,
    path: Type.String(),
    name_template: Type.String(),
    rule_type: stringEnum(RULE_TYPES),
    rule_config: Free,
    degraded_rule_config: nullable(Free),
    display_order: Type.Number(),
    child_monitors: Type.Array(ChildMonitor),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'DataSourceField' },
)

/** A data source in answers, as present.ts makes it. */
export const SourceRecord = Type.Object(
  {
    id: Id,
    name: Type.String(),
    description: Text,
    url: Type.String(),
    method: stringEnum(METHODS),
    headers: nullable(Type.Record(Type.String(), Type.String())),
    body: Text,
    auth_type: nullable(stringEnum(AUTH_TYPES)),
    auth_config: nullable(Free),
    root_path: Text,
    fetch_interval_s: Type.Integer(),
    timeout_ms: Type.Integer(),
    fields: Type.Array(FieldRecord),
    field_count: Type.Integer(),
    child_monitor_count: Type.Integer(),
    last_fetched_at: nullable(Timestamp),
    last_success_at: nullable(Timestamp),
    last_error: nullable(Type.String({ description: 'why the last fetch gave no document; null after one that did' })),
    truncated: nullable(
      Type.Object(
        { keys: Type.Integer(), monitors: Type.Integer() },
        { description: 'how many keys the last document had, and how many of them have monitors; null: all' },
      ),
    ),
    problem: nullable(Type.String({ description: 'what keeps some keys of the document from having monitors' })),
    consecutive_failures: Type.Integer(),
    next_fetch_at: Timestamp,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'DataSource' },
)

/** What a source would make of its document now. */
export const PreviewRecord = Type.Object({
  failure: nullable(
    Type.Object({ code: Type.String(), message: Type.String() }, { description: 'why there is no document' }),
  ),
  children: Type.Array(
    Type.Object({
      field_index: Type.Integer({ description: 'the place of its field, from 0' }),
      key: Type.String(),
      name: Type.String(),
      value: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()], {
        description: 'with its type; of a text its first 200 characters, of a list or an object that it is one',
      }),
      status: stringEnum([...MONITOR_STATUSES, 'unknown']),
      reason: Type.String(),
    }),
  ),
  notes: Type.Array(Type.String({ description: 'what the list does not show: paths that lead nowhere, a limit' })),
})
