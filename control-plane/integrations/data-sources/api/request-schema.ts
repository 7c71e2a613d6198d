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

/** What a create that does not name a field gets (decisions 9.1). */
export const DATA_SOURCE_DEFAULTS = { method: 'GET', fetch_interval_s: 60, timeout_ms: 10_000 } as const

/** Fields that one source may have. */
export const MAX_FIELDS = 50

const RuleConfig = Type.Record(Type.String(), Type.Unknown(), {
  maxProperties: 20,
  description:
    'equals: { value }; in: { values }; diff_lte: { other_path, max }, where other_path may be "now" and times differ in ' +
    'seconds; truthy and http_ok: {}',
})
const Degraded = Type.Unsafe<Static<typeof RuleConfig>>({
  ...RuleConfig,
  description: 'a value that the rule allows with this is degraded instead of down',
})
const Path = Type.String({
  ...lineText(1, 500),
  description:
    'below root_path: keys between dots, [n] for an element, * or [*] for every key or element, ["a.b"] for a key with other characters',
})
const RootPath = Type.String({
  ...lineText(1, 500),
  description: 'the place in the document where paths begin; a document without it is a failed fetch',
})
const NameTemplate = Type.String({
  ...lineText(1, 200),
  description: 'of the monitors: {{key}}, {{value}}, and {{key.1}} for what the first wildcard matched',
})
const DisplayOrder = Type.Number({
  minimum: -1_000_000,
  maximum: 1_000_000,
  description: 'ascending; without one: at the end',
})

const field = {
  path: Path,
  name_template: NameTemplate,
  rule_type: stringEnum(RULE_TYPES),
  rule_config: RuleConfig,
  degraded_rule_config: Type.Optional(nullable(Degraded)),
  display_order: Type.Optional(DisplayOrder),
}

/** What a read adds to a field, so that it can be sent back as it was read. */
const asRead = {
  child_monitors: Type.Optional(
    Type.Array(Type.Record(Type.String(), Type.Unknown()), { description: 'ignored: as it was read' }),
  ),
  created_at: ignoredText,
  updated_at: ignoredText,
}

/** What a user configures of a field: the specification's "Data source field". */
export const FieldConfig = strictObject({
  id: Type.Optional(
    Type.String({ description: 'in an update: the field of this source that is changed; ignored in a create' }),
  ),
  ...field,
})

export const FieldInput = strictObject({ ...FieldConfig.properties, ...asRead })
export type FieldInput = Static<typeof FieldInput>

export const FieldCreate = strictObject({ id: ignoredText, ...field, ...asRead })
export type FieldCreate = Static<typeof FieldCreate>

/** What is not named stays. */
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

const Url = Type.String({ ...lineText(1, 2_048), description: 'an http(s) URL that answers with a JSON document' })
const Fields = Type.Array(FieldInput, { maxItems: MAX_FIELDS })

const withDefault = <T>(value: T | undefined) => (value === undefined ? {} : { default: value })

/** What POST and PUT take alike; an update has no defaults. */
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
    Type.Integer({ minimum: 30, maximum: 86_400, ...withDefault(defaults.fetch_interval_s), description: 'seconds' }),
  ),
  timeout_ms: Type.Optional(Type.Integer({ minimum: 1_000, maximum: 60_000, ...withDefault(defaults.timeout_ms) })),
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

/** What a create takes, before it has a name. */
export const SourcePreview = strictObject({
  data_source_id: Type.Optional(Type.String({ description: 'whose stored secrets masks stand for' })),
  name: Type.Optional(Name),
  url: Url,
  ...changeable(DATA_SOURCE_DEFAULTS),
})
export type SourcePreview = Static<typeof SourcePreview>

export const SourceUpdate = strictObject(
  { name: Type.Optional(Name), url: Type.Optional(Url), ...changeable({}) },
  { description: 'What is not named stays; fields, where they are named, replace those of the source.' },
)
export type SourceUpdate = Static<typeof SourceUpdate>

export const SourcePublish = strictObject({
  status_page_id: Type.String(),
  group_id: Type.Optional(nullable(Type.String())),
  field_ids: Type.Array(Type.String(), { maxItems: MAX_FIELDS }),
})
export type SourcePublish = Static<typeof SourcePublish>
