import { Type } from 'typebox'
import { Id, nullable, stringEnum, Timestamp } from '../../../foundation/web/validation/schemas.ts'
import { MONITOR_STATUSES } from '../../../monitoring/monitors/types.ts'
import { AUTH_TYPES, METHODS, RULE_TYPES } from '../types.ts'

const Text = nullable(Type.String())
const Free = Type.Record(Type.String(), Type.Unknown())

const ChildMonitor = Type.Object({
  monitor_id: Id,
  key: Type.String({ description: 'What the wildcards of the path matched.' }),
  name: Type.String(),
  status: nullable(stringEnum(MONITOR_STATUSES)),
})

/** A field in responses. Documentation only; it validates nothing. */
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

/** A data source in responses (`toSourceResponse`). */
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
    is_paused: Type.Boolean(),
    fields: Type.Array(FieldRecord),
    field_count: Type.Integer(),
    child_monitor_count: Type.Integer(),
    last_fetched_at: nullable(Timestamp),
    last_success_at: nullable(Timestamp),
    last_error: nullable(Type.String({ description: 'Why the last fetch failed. Null after a successful fetch.' })),
    truncated: nullable(
      Type.Object(
        { keys: Type.Integer(), monitors: Type.Integer() },
        { description: 'Number of keys in the last document, and how many of them have monitors. Null: all of them.' },
      ),
    ),
    problem: nullable(Type.String({ description: 'Why some keys of the document have no monitor.' })),
    consecutive_failures: Type.Integer(),
    next_fetch_at: nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'DataSource' },
)

/** The result of a preview. */
export const PreviewRecord = Type.Object({
  failure: nullable(
    Type.Object(
      { code: Type.String(), message: Type.String() },
      { description: 'Why the fetch failed. `document` is null then.' },
    ),
  ),
  children: Type.Array(
    Type.Object({
      field_index: Type.Integer({ description: 'Index of its field, from 0.' }),
      key: Type.String(),
      name: Type.String(),
      value: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()], {
        description:
          'The value with its type. A string is cut to 200 characters; a list or an object is described in words.',
      }),
      status: stringEnum([...MONITOR_STATUSES, 'unknown']),
      reason: Type.String(),
    }),
  ),
  notes: Type.Array(
    Type.String({ description: 'Remarks about the list: paths that match nothing, limits that apply.' }),
  ),
  document: Type.Unknown({
    description: 'The fetched document, from root_path, at most 256 KiB. Null when there is none.',
  }),
  document_note: nullable(
    Type.String({ description: 'What is missing in `document` because it is too large. Null: nothing.' }),
  ),
})
