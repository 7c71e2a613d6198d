import { type Static, Type } from 'typebox'
import { MAX_OVERRIDES, Overrides } from '../../../alerting/routing/rules/dependency-override.ts'
import { ALERT_TYPES } from '../../../alerting/routing/rules/subscription.ts'
import { ChannelCreate, ruleSettings, SettingsUpdate } from '../../../alerting/routing/schemas.ts'
import { strictObject, stringEnum } from '../../../foundation/web/validation/schemas.ts'
import { MonitorCreate } from '../../../monitoring/monitors/settings/schema.ts'
import { ComponentCreate, PageCreate, PageUpdate } from '../../../pages/admin/schema.ts'
import { WindowCreate } from '../../../verdict/maintenance/schemas.ts'
import { FieldConfig, MAX_FIELDS, SourceCreate } from '../../data-sources/api/request-schema.ts'
import { DependencyCreate } from '../../vendors/dependencies/schema.ts'

/** Version of the format. A change of the meaning of existing files needs a new version. */
export const FORMAT_VERSION = 1

const MAX_ENTRIES = 10_000
const id = Type.Optional(
  Type.String({ maxLength: 100, description: 'Id of the record. An id of another project is ignored.' }),
)
const Reference = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'A name, or an id if several records have the name.',
})
const listSchema = <T extends Parameters<typeof Type.Array>[0]>(entry: T) =>
  Type.Array(entry, { maxItems: MAX_ENTRIES })

const RuleEntry = strictObject({ channel: Reference, ...ruleSettings })
export type RuleEntry = Static<typeof RuleEntry>

const ChannelEntry = strictObject({
  id,
  ...ChannelCreate.properties,
  subscriptions: Type.Optional(Type.Array(stringEnum(ALERT_TYPES), { uniqueItems: true })),
})
export type ChannelEntry = Static<typeof ChannelEntry>

const MonitorEntry = strictObject({
  id,
  ...MonitorCreate.properties,
  is_paused: Type.Optional(Type.Boolean()),
  parents: Type.Optional(Type.Array(Reference, { maxItems: 10, uniqueItems: true })),
  rules: Type.Optional(listSchema(RuleEntry)),
})
export type MonitorEntry = Static<typeof MonitorEntry>

const { monitor_ids, ...window } = WindowCreate.properties
const WindowEntry = strictObject({
  id,
  ...window,
  monitors: Type.Array(Reference, { minItems: 1, maxItems: 1_000, uniqueItems: true }),
})
export type WindowEntry = Static<typeof WindowEntry>

const { name, description, status } = ComponentCreate.properties
const component = { id, name, description, status, monitor: Type.Optional(Reference) }
const ComponentEntry = strictObject(component)
export type ComponentEntry = Static<typeof ComponentEntry>

const SectionEntry = strictObject({
  ...component,
  is_collapsed: Type.Optional(Type.Boolean()),
  components: Type.Optional(
    Type.Array(ComponentEntry, { maxItems: 500, description: 'An entry with components is a group.' }),
  ),
})
export type SectionEntry = Static<typeof SectionEntry>

const PageEntry = strictObject({
  id,
  ...PageUpdate.properties,
  ...PageCreate.properties,
  components: Type.Optional(Type.Array(SectionEntry, { maxItems: 600, description: 'In the order of the page.' })),
})
export type PageEntry = Static<typeof PageEntry>

const { display_order, ...sourceField } = FieldConfig.properties
const SourceFieldEntry = strictObject({ ...sourceField, id })
export type SourceFieldEntry = Static<typeof SourceFieldEntry>

const SourceEntry = strictObject({
  id,
  ...SourceCreate.properties,
  is_paused: Type.Optional(Type.Boolean()),
  fields: Type.Optional(Type.Array(SourceFieldEntry, { maxItems: MAX_FIELDS, description: 'In display order.' })),
  monitors: Type.Optional(
    Type.Array(Type.String({ maxLength: 200 }), {
      maxItems: MAX_ENTRIES,
      description: 'Names of its monitors, which other entries can refer to. An import does not create them.',
    }),
  ),
})
export type SourceEntry = Static<typeof SourceEntry>

const { alert_channel_id, ...flags } = Overrides.items.properties
const DependencyEntry = strictObject({
  id,
  ...DependencyCreate.properties,
  overrides: Type.Optional(Type.Array(strictObject({ channel: Reference, ...flags }), { maxItems: MAX_OVERRIDES })),
})
export type DependencyEntry = Static<typeof DependencyEntry>

const { is_digest_enabled, digest_threshold } = SettingsUpdate.properties

const EXAMPLE = {
  version: FORMAT_VERSION,
  alert_channels: [{ name: 'Ops', type: 'webhook', config: { url: 'https://hooks.example.com/picket' } }],
  monitors: [
    { name: 'Router', type: 'ping', url: 'router.example.com', rules: [] },
    {
      name: 'Shop',
      type: 'http',
      url: 'https://shop.example.com/health',
      parents: ['Router'],
      rules: [{ channel: 'Ops', remind_every_minutes: 30 }],
    },
  ],
}

/** A project as a file. Records of omitted sections do not change. */
export const ProjectFile = strictObject(
  {
    version: Type.Literal(FORMAT_VERSION),
    alert_settings: Type.Optional(strictObject({ is_digest_enabled, digest_threshold })),
    alert_channels: Type.Optional(listSchema(ChannelEntry)),
    monitors: Type.Optional(listSchema(MonitorEntry)),
    maintenance_windows: Type.Optional(listSchema(WindowEntry)),
    data_sources: Type.Optional(listSchema(SourceEntry)),
    dependencies: Type.Optional(listSchema(DependencyEntry)),
    status_pages: Type.Optional(listSchema(PageEntry)),
  },
  {
    title: 'ProjectFile',
    description: 'Records of omitted sections do not change. Omitted fields of a record have their defaults.',
    examples: [EXAMPLE],
  },
)
export type ProjectFile = Static<typeof ProjectFile>
