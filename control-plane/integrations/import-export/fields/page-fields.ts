import { getImageUrl } from '../../../pages/admin/responses.ts'
import { DEFAULT_COLOR, DEFAULT_TEMPLATE, PageUpdate } from '../../../pages/admin/schema.ts'
import type { StoredComponent, StoredGroup, StoredPage } from '../../../pages/core/records.ts'
import type { ComponentEntry, PageEntry, SectionEntry } from '../file/project-file.ts'
import { pick, type RecordFields, toSnakeKeys } from './fields.ts'

export const PAGE_DEFAULTS: RecordFields = {
  template: DEFAULT_TEMPLATE,
  brand_color: DEFAULT_COLOR,
  is_published: false,
  show_response_times: true,
  show_uptime_percentage: true,
}

const { logo_url, favicon_url, ...ofItself } = PageUpdate.properties
const IMAGES = ['logo', 'favicon'] as const
const UNSET: RecordFields = { custom_css: null, seo_title: null, seo_description: null, ...PAGE_DEFAULTS }

/** Returns a page with the names of the file. Uploaded images have no address and are omitted. */
export function toStoredPageFields(page: StoredPage): RecordFields {
  const images = IMAGES.map(kind => [`${kind}_url`, page[kind]?.sourceUrl ?? null])
  return { slug: page.slug, ...pick(toSnakeKeys(page), ofItself), ...Object.fromEntries(images) }
}

/** Returns the fields of a page after an import. Omitted images are kept. */
export function toPageFields(entry: PageEntry, page: StoredPage | null, publicUrl: string): RecordFields {
  const { slug } = entry
  const images = IMAGES.flatMap(kind => {
    const url = entry[`${kind}_url`]
    const isKept = url === undefined || (page !== null && url === getImageUrl(page, kind, publicUrl))
    return isKept ? [] : [[`${kind}_url`, url]]
  })
  return { slug, ...UNSET, ...pick(entry, ofItself), ...Object.fromEntries(images) }
}

export const GROUP_DEFAULTS: RecordFields = { is_collapsed: false }

export const toStoredGroupFields = ({ name, description, isCollapsed }: StoredGroup): RecordFields => ({
  // an empty text equals null, because a cleared description cannot become null again
  ...{ name, description: description || null },
  is_collapsed: isCollapsed,
})

export const toGroupFields = (entry: SectionEntry): RecordFields => ({
  ...{ name: entry.name, description: entry.description || null },
  is_collapsed: entry.is_collapsed ?? false,
})

export const COMPONENT_DEFAULTS: RecordFields = { status: 'operational' }

/** `monitor` and `group` are ids. A component with a monitor has no status of its own. */
export const toStoredComponentFields = ({
  name,
  description,
  monitor,
  status,
  groupId,
}: StoredComponent): RecordFields => ({
  ...{ name, description, group: groupId, monitor: monitor?.id ?? null },
  status: monitor ? null : status,
})

export const toComponentFields = (
  entry: ComponentEntry,
  monitorId: string | null,
  groupId: string | null,
): RecordFields => ({
  ...{ name: entry.name, description: entry.description ?? null, group: groupId, monitor: monitorId },
  status: monitorId === null ? (entry.status ?? 'operational') : null,
})
