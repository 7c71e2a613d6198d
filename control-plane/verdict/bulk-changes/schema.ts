import { type Static, Type } from 'typebox'
import { REGIONS } from '../../../shared/checks/check.ts'
import { ruleSettings } from '../../alerting/routing/schemas.ts'
import { ERROR_CODES } from '../../foundation/web/server/errors.ts'
import { Id, lineText, nullable, strictObject, stringEnum } from '../../foundation/web/validation/schemas.ts'
import { MonitorSelection } from '../../monitoring/monitors/listing/monitor-filter.ts'
import { MonitorUpdate } from '../../monitoring/monitors/settings/schema.ts'
import { SilenceSettings } from '../silences/schemas.ts'

export const MAX_MONITORS = 10_000
const MAX_RULES = 20

const { interval_seconds, timeout_ms, retry_count, regions, tags } = MonitorUpdate.properties

const RegionList = Type.Array(stringEnum(REGIONS), { uniqueItems: true })
const TagList = Type.Array(lineText(1, 50), { maxItems: 50 })

const RegionEdit = strictObject({
  set: Type.Optional(regions),
  add: Type.Optional(RegionList),
  remove: Type.Optional(RegionList),
})
const TagEdit = strictObject({
  set: Type.Optional(tags),
  add: Type.Optional(TagList),
  remove: Type.Optional(TagList),
})
const RuleSettings = strictObject({ alert_channel_id: Type.String({ minLength: 1 }), ...ruleSettings })
export type RuleSettings = Static<typeof RuleSettings>

const RuleEdit = strictObject(
  {
    add: Type.Optional(Type.Array(RuleSettings, { maxItems: MAX_RULES })),
    remove: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: MAX_RULES })),
  },
  {
    description:
      'Rules of the monitors, by their alert channels. `remove` comes first. A monitor that has a rule for a channel of `add` keeps it.',
  },
)

/** What changes of each monitor. */
export const MonitorChange = strictObject(
  {
    is_paused: Type.Optional(Type.Boolean({ description: 'Pause or resume, as `POST /monitors/{id}/pause` does.' })),
    interval_seconds: Type.Optional(interval_seconds),
    timeout_ms: Type.Optional(timeout_ms),
    retry_count: Type.Optional(retry_count),
    regions: Type.Optional(RegionEdit),
    tags: Type.Optional(TagEdit),
    alert_rules: Type.Optional(RuleEdit),
    silence: Type.Optional(
      nullable(SilenceSettings, {
        description:
          'Withhold alerts until this time, instead of the silences that the monitor is in. Null ends these.',
      }),
    ),
    delete: Type.Optional(Type.Literal(true, { description: 'Delete the monitors. Without other changes.' })),
  },
  { title: 'MonitorChange', description: 'One or more changes. Fields that are not named stay as they are.' },
)
export type MonitorChange = Static<typeof MonitorChange>

const MonitorIds = Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: MAX_MONITORS })

export const BulkChange = strictObject(
  {
    monitor_ids: Type.Optional(MonitorIds),
    query: Type.Optional(MonitorSelection),
    change: Type.Optional(MonitorChange),
    changes: Type.Optional(
      Type.Array(strictObject({ monitor_ids: MonitorIds, change: MonitorChange }), {
        minItems: 1,
        maxItems: MAX_MONITORS,
        description: 'Different changes of different monitors, as `undo` has them.',
      }),
    ),
    dry_run: Type.Optional(Type.Boolean({ default: true, description: 'Only show what would change.' })),
  },
  {
    title: 'BulkChange',
    examples: [
      {
        query: { tag: 'shop', paused: false },
        change: { interval_seconds: 300, tags: { add: ['slow'] } },
        dry_run: true,
      },
      { monitor_ids: ['019c0000-0000-7000-8000-000000000001'], change: { is_paused: true }, dry_run: false },
    ],
  },
)
export type BulkChange = Static<typeof BulkChange>

export const ITEM_RESULTS = ['changed', 'unchanged', 'refused'] as const

const ItemError = Type.Object({ code: stringEnum(ERROR_CODES), message: Type.String() })
const FieldChangeRecord = Type.Object({
  field: Type.String({
    description:
      'A field of the monitor, `alert_rules` (`from`: the rules that are removed, `to`: those that are added), `silence`, or `deleted`.',
  }),
  from: Type.Unknown(),
  to: Type.Unknown(),
})

export const BulkChangeRecord = Type.Object(
  {
    dry_run: Type.Boolean(),
    changed: Type.Integer({ description: 'The number of monitors that changed, or would change.' }),
    unchanged: Type.Integer(),
    refused: Type.Integer(),
    items: Type.Array(
      Type.Object({
        monitor_id: Id,
        name: nullable(Type.String({ description: 'Null when the monitor is unknown or was not read.' })),
        result: stringEnum(ITEM_RESULTS),
        changes: Type.Array(FieldChangeRecord, { description: 'Empty unless `result` is `changed`.' }),
        error: nullable(ItemError, { description: 'Why the monitor is refused; otherwise null.' }),
      }),
      { description: 'One for each monitor, in the order of the request; for a query in the order of creation.' },
    ),
    undo: nullable(BulkChange, {
      description:
        'The body of the request that restores what was changed. Null in a dry run, for deleted monitors, when nothing changed, and when it would be larger than a body may be.',
    }),
  },
  { title: 'BulkChangeResult' },
)
