import type { StoredOverride } from '../../../alerting/routing/rules/dependency-override.ts'
import { findCatalogEntry } from '../../vendors/dependencies/catalog.ts'
import { DependencyCreate } from '../../vendors/dependencies/schema.ts'
import type { TrackedVendor } from '../../vendors/dependencies/tracked-vendor.ts'
import type { DependencyEntry } from '../file/project-file.ts'
import { pick, type RecordFields, toSnakeKeys } from './fields.ts'

const { overrides: _, ...ofItself } = DependencyCreate.properties
const ADDRESS = ['status_url', 'feed_type', 'feed_url', 'feed_mapping']

/** Returns a dependency with the names of the file. Addresses are omitted when the slug determines them. */
export function toDependencyFields(tracked: TrackedVendor): RecordFields {
  const fields = pick(toSnakeKeys(tracked), ofItself)
  return Object.fromEntries(Object.entries(fields).filter(([key]) => tracked.slug === null || !ADDRESS.includes(key)))
}

/** Returns the defaults of a dependency. With a slug, the catalog determines the other values. */
export const getDependencyDefaults = (slug: unknown): RecordFields =>
  slug == null ? { category: 'other', components: [], feed_mapping: {} } : { components: [] }

export const toDependencyBody = (entry: DependencyEntry) => pick(entry, ofItself) as DependencyCreate

export const getDependencyName = ({ name, slug }: DependencyEntry): string =>
  name ?? findCatalogEntry(slug ?? '')?.name ?? slug ?? ''

type OverrideFlags = Pick<StoredOverride, 'alertChannelId' | 'onDown' | 'onDegraded' | 'onResolved'>

/** Sorted by channel id, because overrides have no order. */
export const toOverrideFields = (overrides: readonly OverrideFlags[]): RecordFields[] =>
  overrides
    .map(({ alertChannelId, onDown, onDegraded, onResolved }) => ({
      ...{ channel: alertChannelId, on_down: onDown, on_degraded: onDegraded, on_resolved: onResolved },
    }))
    .sort((a, b) => (a.channel < b.channel ? -1 : 1))

export const OVERRIDE_DEFAULTS: RecordFields = { on_down: true, on_degraded: true, on_resolved: true }
