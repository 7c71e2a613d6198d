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
import { COMPONENT_STATUSES, TEMPLATE_NAMES } from '../core/types.ts'

const BrandColor = (options: { default?: string } = {}) => Type.String({ pattern: '^#[0-9a-fA-F]{6}$', ...options })
const ImageUrl = nullable(
  Type.String({
    minLength: 1,
    maxLength: 2_048,
    format: 'line',
    description: 'https; fetched in the background and then daily',
  }),
)

const Problem = nullable(
  Type.String({
    description:
      'why the last try to fetch it failed; it is tried again after 30 s, then ever less often, at least daily, and the image before stays',
  }),
)

export const DEFAULT_TEMPLATE = 'minimal'
export const DEFAULT_COLOR = '#2563eb'

/** The specification's create body ("Status page"). */
export const PageCreate = strictObject(
  {
    name: Name,
    slug: Type.String({ minLength: 1, maxLength: 50, pattern: '^[a-z0-9-]+$' }),
    template: Type.Optional(stringEnum(TEMPLATE_NAMES, { default: DEFAULT_TEMPLATE })),
    brand_color: Type.Optional(BrandColor({ default: DEFAULT_COLOR })),
  },
  { title: 'StatusPageCreate', examples: [{ name: 'Acme', slug: 'acme', brand_color: '#2563eb' }] },
)
export type PageCreate = Static<typeof PageCreate>

/** The specification's update body: what is not named stays. */
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
    logo_url: nullable(Type.String({ description: 'as it was given; of an upload, where it stands' })),
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
    public_url: Type.String({ description: 'where visitors find it once it is published' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'StatusPage' },
)

const Description = Type.String({ maxLength: 1_000 })
const DisplayOrder = Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'ascending; without one: at the end' })
const component = {
  description: Type.Optional(nullable(Description)),
  monitor_id: Type.Optional(nullable(Type.String())),
  group_id: Type.Optional(nullable(Type.String())),
  display_order: Type.Optional(DisplayOrder),
  status: Type.Optional(stringEnum(COMPONENT_STATUSES)),
}
const byHand = { description: 'status is set by hand where there is no monitor_id' }

export const ComponentCreate = strictObject({ name: Name, ...component }, byHand)
export type ComponentCreate = Static<typeof ComponentCreate>

export const ComponentUpdate = strictObject({ name: Type.Optional(Name), ...component }, byHand)
export type ComponentUpdate = Static<typeof ComponentUpdate>

export const ComponentOrder = strictObject({
  component_ids: Type.Array(Type.String(), {
    minItems: 1,
    maxItems: 1_000,
    uniqueItems: true,
    description: 'they change places among themselves; everything else stays where it is',
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

/** The specification's group update body. */
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
