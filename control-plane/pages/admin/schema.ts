import { type Static, Type } from 'typebox'
import {
  Id,
  lineText,
  Name,
  nullable,
  strictObject,
  stringEnum,
  Timestamp,
} from '../../foundation/web/validation/schemas.ts'
import { COMPONENT_STATUSES, MAX_COMPONENTS, TEMPLATE_NAMES } from '../core/types.ts'

const BrandColor = (options: { default?: string } = {}) => Type.String({ pattern: '^#[0-9a-fA-F]{6}$', ...options })
const ImageUrl = nullable(
  Type.String({
    minLength: 1,
    maxLength: 2_048,
    format: 'line',
    description: 'Must be an https URL. The image is fetched in the background, then daily.',
  }),
)

const Problem = nullable(
  Type.String({
    description:
      'Why the last fetch failed; null after a success. The fetch is retried after 30 seconds, then at increasing intervals of at most a day. The previous image stays in use.',
  }),
)

export const DEFAULT_TEMPLATE = 'minimal'
export const DEFAULT_COLOR = '#2563eb'

const Description = Type.String({ maxLength: 1_000 })
const DisplayOrder = Type.Integer({
  minimum: 0,
  maximum: 1_000_000,
  description: 'Ascending. Defaults to the end of the page.',
})
const component = {
  description: Type.Optional(nullable(Description)),
  monitor_id: Type.Optional(nullable(Type.String())),
  group_id: Type.Optional(nullable(Type.String())),
  display_order: Type.Optional(DisplayOrder),
  status: Type.Optional(stringEnum(COMPONENT_STATUSES)),
}
const manualStatus = { description: '`status` can only be set without `monitor_id`.' }

const { group_id: _group, display_order: _order, ...placedByPage } = component
const PageComponent = strictObject({ name: Name, ...placedByPage }, manualStatus)

export const PageCreate = strictObject(
  {
    name: Name,
    slug: Type.String({ minLength: 1, maxLength: 50, pattern: '^[a-z0-9-]+$' }),
    template: Type.Optional(stringEnum(TEMPLATE_NAMES, { default: DEFAULT_TEMPLATE })),
    brand_color: Type.Optional(BrandColor({ default: DEFAULT_COLOR })),
    is_published: Type.Optional(Type.Boolean({ default: false })),
    components: Type.Optional(
      Type.Array(PageComponent, { maxItems: MAX_COMPONENTS, description: 'In the order of the page, without groups.' }),
    ),
  },
  { title: 'StatusPageCreate', examples: [{ name: 'Acme', slug: 'acme', brand_color: '#2563eb' }] },
)
export type PageCreate = Static<typeof PageCreate>

/** Fields that are omitted keep their values. */
export const PageUpdate = strictObject(
  {
    name: Type.Optional(Name),
    logo_url: Type.Optional(ImageUrl),
    favicon_url: Type.Optional(ImageUrl),
    brand_color: Type.Optional(BrandColor()),
    custom_css: Type.Optional(nullable(Type.String({ maxLength: 65_536 }))),
    template: Type.Optional(stringEnum(TEMPLATE_NAMES)),
    seo_title: Type.Optional(nullable(lineText(0, 200))),
    seo_description: Type.Optional(nullable(lineText(0, 500))),
    is_published: Type.Optional(Type.Boolean()),
    show_response_times: Type.Optional(Type.Boolean()),
    show_uptime_percentage: Type.Optional(Type.Boolean()),
  },
  { title: 'StatusPageUpdate' },
)
export type PageUpdate = Static<typeof PageUpdate>

export const PageRecord = Type.Object(
  {
    id: Id,
    name: Type.String(),
    slug: Type.String(),
    template: stringEnum(TEMPLATE_NAMES),
    brand_color: Type.String(),
    logo_url: nullable(
      Type.String({ description: 'The address as configured; for an upload, the address of the stored file.' }),
    ),
    favicon_url: nullable(Type.String()),
    logo_problem: Problem,
    favicon_problem: Problem,
    custom_css: nullable(Type.String()),
    seo_title: nullable(Type.String()),
    seo_description: nullable(Type.String()),
    is_published: Type.Boolean(),
    show_response_times: Type.Boolean(),
    show_uptime_percentage: Type.Boolean(),
    custom_domain: nullable(Type.String()),
    custom_domain_verified_at: nullable(Timestamp),
    component_count: Type.Integer(),
    public_url: Type.String({ description: 'The address for visitors, once the page is published.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'StatusPage' },
)

export const ComponentCreate = strictObject({ name: Name, ...component }, manualStatus)
export type ComponentCreate = Static<typeof ComponentCreate>

export const ComponentUpdate = strictObject({ name: Type.Optional(Name), ...component }, manualStatus)
export type ComponentUpdate = Static<typeof ComponentUpdate>

export const ComponentOrder = strictObject({
  component_ids: Type.Array(Type.String(), {
    minItems: 1,
    maxItems: 1_000,
    uniqueItems: true,
    description: 'The ids of components and groups that exchange their positions. All other items keep theirs.',
  }),
})

export const ComponentRecord = Type.Object(
  {
    id: Id,
    status_page_id: Id,
    name: Type.String(),
    description: nullable(Type.String()),
    monitor_id: nullable(Id),
    group_id: nullable(Id),
    display_order: Type.Integer(),
    status: stringEnum(COMPONENT_STATUSES),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'StatusPageComponent' },
)

export const GroupCreate = strictObject(
  {
    name: Name,
    description: Type.Optional(nullable(Description)),
    display_order: Type.Optional(DisplayOrder),
    is_collapsed: Type.Optional(Type.Boolean({ default: false })),
  },
  { title: 'StatusPageGroupCreate' },
)
export type GroupCreate = Static<typeof GroupCreate>

export const GroupUpdate = strictObject(
  {
    name: Type.Optional(Name),
    description: Type.Optional(Description),
    display_order: Type.Optional(DisplayOrder),
    is_collapsed: Type.Optional(Type.Boolean()),
  },
  { title: 'StatusPageGroupUpdate' },
)
export type GroupUpdate = Static<typeof GroupUpdate>

export const GroupRecord = Type.Object(
  {
    id: Id,
    status_page_id: Id,
    name: Type.String(),
    description: nullable(Type.String()),
    display_order: Type.Integer(),
    is_collapsed: Type.Boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'StatusPageGroup' },
)
