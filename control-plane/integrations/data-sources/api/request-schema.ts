import { type Static, Type } from 'typebox'
import { HeaderMapSchema } from '../../../foundation/web/masked-secrets/header-map.ts'
import {
  ignoredText,
  lineText,
  Name,
  nullable,
  strictObject,
  stringEnum,
} from '../../../foundation/web/validation/schemas.ts'
import { AUTH_TYPES, METHODS, RULE_TYPES } from '../types.ts'

/** Defaults of a create (docs/design/data-sources.md#limits). */
export const DATA_SOURCE_DEFAULTS = {
  method: 'GET',
  fetch_interval_s: 60,
  timeout_ms: 10_000,
  is_paused: false,
} as const

/** Maximum number of fields in one source. */
export const MAX_FIELDS = 50

const RuleConfig = Type.Record(Type.String(), Type.Unknown(), {
  maxProperties: 20,
  description:
    'equals: { value }; in: { values }; diff_lte: { other_path, max }; truthy and http_ok: {}. other_path may be "now". ' +
    'Differences of times are in seconds.',
})
const Degraded = Type.Unsafe<Static<typeof RuleConfig>>({
  ...RuleConfig,
  description: 'A value for which the rule holds with this configuration is degraded instead of down.',
})
const Path = Type.String({
  ...lineText(1, 500),
  description:
    'Path below root_path: keys separated by dots, [n] for an element, * or [*] for every key or element, ["a.b"] for a key with other characters.',
})
const RootPath = Type.String({
  ...lineText(1, 500),
  description: 'Place in the document where paths begin. A document without it is a failed fetch.',
})
const NameTemplate = Type.String({
  ...lineText(1, 200),
  description:
    'Template for the names of monitors: {{key}}, {{value}}, and {{key.1}} for what the first wildcard matched.',
})
const DisplayOrder = Type.Number({
  minimum: -1_000_000,
  maximum: 1_000_000,
  description: 'Ascending. A field without it comes last.',
})

const field = {
  path: Path,
  name_template: NameTemplate,
  rule_type: stringEnum(RULE_TYPES),
  rule_config: RuleConfig,
  degraded_rule_config: Type.Optional(nullable(Degraded)),
  display_order: Type.Optional(DisplayOrder),
}

/** Properties that a read adds to a field. They are accepted and ignored, so that a field can be sent back as read. */
const asRead = {
  child_monitors: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()), { description: 'Ignored.' })),
  created_at: ignoredText,
  updated_at: ignoredText,
}

/** The configuration of a field. */
export const FieldConfig = strictObject({
  id: Type.Optional(Type.String({ description: 'In an update, the id of the field to change. Ignored in a create.' })),
  ...field,
})

export const FieldInput = strictObject({ ...FieldConfig.properties, ...asRead })
export type FieldInput = Static<typeof FieldInput>

export const FieldCreate = strictObject({ id: ignoredText, ...field, ...asRead })
export type FieldCreate = Static<typeof FieldCreate>

/** Omitted properties keep their values. */
export const FieldUpdate = strictObject({
  id: ignoredText,
  path: Type.Optional(Path),
  name_template: Type.Optional(NameTemplate),
  rule_type: Type.Optional(stringEnum(RULE_TYPES)),
  rule_config: Type.Optional(RuleConfig),
  degraded_rule_config: Type.Optional(nullable(Degraded)),
  display_order: Type.Optional(DisplayOrder),
  ...asRead,
})
export type FieldUpdate = Static<typeof FieldUpdate>

const Url = Type.String({
  ...lineText(1, 2_048),
  description: 'An http or https URL that responds with a JSON document.',
})
const Fields = Type.Array(FieldInput, { maxItems: MAX_FIELDS })

const withDefault = <T>(value: T | undefined) => (value === undefined ? {} : { default: value })

/** Properties of both POST and PUT. An update has no defaults. */
const changeable = (defaults: Partial<typeof DATA_SOURCE_DEFAULTS>) => ({
  description: Type.Optional(nullable(Type.String({ maxLength: 1_000 }))),
  method: Type.Optional(stringEnum(METHODS, withDefault(defaults.method))),
  headers: Type.Optional(nullable(HeaderMapSchema)),
  body: Type.Optional(nullable(Type.String({ maxLength: 262_144 }))),
  auth_type: Type.Optional(nullable(stringEnum(AUTH_TYPES))),
  auth_config: Type.Optional(
    nullable(
      Type.Record(Type.String(), Type.Unknown(), {
        maxProperties: 20,
        description: 'basic: { username, password }; bearer: { token }; api_key: { header, value }',
      }),
    ),
  ),
  root_path: Type.Optional(nullable(RootPath)),
  fetch_interval_s: Type.Optional(
    Type.Integer({
      minimum: 30,
      maximum: 86_400,
      ...withDefault(defaults.fetch_interval_s),
      description: 'In seconds.',
    }),
  ),
  timeout_ms: Type.Optional(Type.Integer({ minimum: 1_000, maximum: 60_000, ...withDefault(defaults.timeout_ms) })),
  is_paused: Type.Optional(
    Type.Boolean({
      ...withDefault(defaults.is_paused),
      description: 'Whether the document is not fetched. Then its monitors have the status `null`.',
    }),
  ),
  fields: Type.Optional(Fields),
})

export const SourceCreate = strictObject(
  { name: Name, url: Url, ...changeable(DATA_SOURCE_DEFAULTS) },
  {
    title: 'DataSourceCreate',
    examples: [
      {
        name: 'Queues',
        url: 'https://queues.example.com/status.json',
        fields: [
          {
            ...{ path: '*.state', name_template: 'Queue {{key}}' },
            ...{ rule_type: 'equals', rule_config: { value: 'ok' } },
          },
        ],
      },
    ],
  },
)
export type SourceCreate = Static<typeof SourceCreate>

/** The body of a create, with an optional name. */
export const SourcePreview = strictObject({
  data_source_id: Type.Optional(
    Type.String({ description: 'Masked secrets in the body are replaced by the stored secrets of this data source.' }),
  ),
  name: Type.Optional(Name),
  url: Url,
  ...changeable(DATA_SOURCE_DEFAULTS),
})
export type SourcePreview = Static<typeof SourcePreview>

export const SourceUpdate = strictObject(
  { name: Type.Optional(Name), url: Type.Optional(Url), ...changeable({}) },
  { description: 'Omitted properties keep their values. `fields`, when given, replaces all fields of the source.' },
)
export type SourceUpdate = Static<typeof SourceUpdate>

export const SourcePublish = strictObject({
  status_page_id: Type.String(),
  group_id: Type.Optional(nullable(Type.String())),
  field_ids: Type.Array(Type.String(), { maxItems: MAX_FIELDS }),
})
export type SourcePublish = Static<typeof SourcePublish>
