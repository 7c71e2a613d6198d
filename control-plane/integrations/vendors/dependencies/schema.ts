import { type Static, Type } from 'typebox'
import { Overrides } from '../../../alerting/routing/rules/dependency-override.ts'
import {
  Id,
  lineText,
  Name,
  nullable,
  pageProperties,
  strictObject,
  stringEnum,
  Timestamp,
} from '../../../foundation/web/validation/schemas.ts'
import { FEED_TYPES } from '../feeds/index.ts'
import { DEFAULT_MAPPING } from '../feeds/json.ts'
import { VENDOR_INCIDENT_STATUSES, VENDOR_SEVERITIES, VENDOR_STATUSES } from '../feeds/report.ts'
import { CATEGORIES } from './categories.ts'

const Address = Type.String({ minLength: 1, maxLength: 2_048 })
const Category = lineText(1, 50)
const FeedType = stringEnum(FEED_TYPES)
const MappingPath = lineText(1, 100)
const Mapping = strictObject(
  Object.fromEntries(Object.keys(DEFAULT_MAPPING).map(name => [name, Type.Optional(MappingPath)])) as Record<
    keyof typeof DEFAULT_MAPPING,
    ReturnType<typeof Type.Optional<typeof MappingPath>>
  >,
  {
    description:
      'Paths in the document of a feed of type json: keys separated by dots, through lists. `incidents` starts at the document ($ is the document itself), the other paths start at each incident.',
  },
)

const fields = {
  name: Type.Optional(Name),
  category: Type.Optional(Category),
  status_url: Type.Optional(Address),
  feed_type: Type.Optional(FeedType),
  feed_url: Type.Optional(Address),
  feed_mapping: Type.Optional(Mapping),
  components: Type.Optional(
    Type.Array(lineText(1, 200), {
      maxItems: 50,
      uniqueItems: true,
      description: 'Names of the components that count. Empty: everything that the vendor reports.',
    }),
  ),
  overrides: Type.Optional(Overrides),
}

export const DependencyCreate = strictObject(
  { slug: Type.Optional(lineText(1, 50)), ...fields },
  {
    title: 'DependencyCreate',
    description: 'Either a slug of the catalog, or name, status_url and feed_type.',
    examples: [
      { slug: 'github' },
      { name: 'Our host', status_url: 'https://status.example.com/', feed_type: 'statuspage', components: ['API'] },
    ],
  },
)
export type DependencyCreate = Static<typeof DependencyCreate>

export const DependencyUpdate = strictObject(fields)
export type DependencyUpdate = Static<typeof DependencyUpdate>

/** The parts of a create on which the feed depends. */
const { overrides: _, ...feedFields } = fields
export const FeedTest = strictObject(
  { slug: Type.Optional(lineText(1, 50)), ...feedFields },
  { description: 'The body of a create without overrides. Its name is not used.' },
)
export type FeedTest = Static<typeof FeedTest>

/** What a feed reports now, as a dependency would read it. */
export const FeedTestRecord = Type.Object({
  feed_url: Type.String({ description: 'The address that was requested.' }),
  error: nullable(Type.String({ description: 'Why the feed cannot be read. Null: it can.' })),
  status: nullable(stringEnum(VENDOR_STATUSES)),
  incidents: Type.Array(
    Type.Object({
      title: Type.String(),
      severity: stringEnum(VENDOR_SEVERITIES),
      status: stringEnum(VENDOR_INCIDENT_STATUSES),
      components: Type.Array(Type.String()),
      started_at: nullable(Type.String({ format: 'date-time' })),
    }),
    { description: 'At most 20, open ones first.' },
  ),
  open_incidents: Type.Integer(),
  components: Type.Array(Type.String(), { description: 'Names of the components that the feed lists.' }),
})

export const DependencyRecord = Type.Object(
  {
    id: Id,
    slug: nullable(
      Type.String({ description: 'Slug in the catalog. Null: the dependency has an address of its own.' }),
    ),
    name: Type.String(),
    category: Type.String(),
    status_url: Type.String(),
    feed_type: FeedType,
    feed_url: Type.String(),
    feed_mapping: Type.Record(Type.String(), Type.String()),
    components: Type.Array(Type.String()),
    overrides: Type.Array(
      Type.Object({
        alert_channel_id: Id,
        on_down: Type.Boolean(),
        on_degraded: Type.Boolean(),
        on_resolved: Type.Boolean(),
      }),
    ),
    status: stringEnum(VENDOR_STATUSES),
    open_incidents: Type.Integer(),
    last_checked_at: nullable(Type.String({ format: 'date-time', description: 'When its feed was last read.' })),
    last_error: nullable(
      Type.String({ description: 'Why its feed cannot be read. This does not mean that the vendor has an incident.' }),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Dependency' },
)

export const VendorIncidentRecord = Type.Object(
  {
    id: Id,
    dependency_id: Id,
    title: Type.String(),
    severity: stringEnum(VENDOR_SEVERITIES),
    status: stringEnum(VENDOR_INCIDENT_STATUSES),
    components: Type.Array(Type.String()),
    source_url: Type.String(),
    started_at: Timestamp,
    resolved_at: nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'VendorIncident' },
)

export const CatalogQuery = strictObject({
  ...pageProperties,
  category: Type.Optional(stringEnum(CATEGORIES)),
  q: Type.Optional(Type.String({ description: 'Part of the name.' })),
})

export const CatalogRecord = Type.Object(
  {
    slug: Type.String(),
    name: Type.String(),
    category: Type.String(),
    status_url: Type.String(),
    feed_type: FeedType,
    feed_url: Type.String(),
    dependency_id: nullable({
      ...Id,
      description: 'The dependency that tracks the vendor, the newest one if there are several.',
    }),
  },
  { title: 'CatalogEntry' },
)
