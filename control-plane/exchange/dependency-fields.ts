import type { StoredOverride } from '../alerts/override.ts'
import { catalogEntry } from '../vendors/catalog.ts'
import { DependencyCreate } from '../vendors/schema.ts'
import type { Tracked } from '../vendors/tracked.ts'
import type { DependencyEntry } from './document.ts'
import { type Fields, pick, snakeKeys } from './fields.ts'

const { overrides: _, ...ofItself } = DependencyCreate.properties
const ADDRESS = ['status_url', 'feed_type', 'feed_url', 'feed_mapping']

/** A dependency in the names of the file. Where a slug says the addresses, they are left out. */
export function trackedFields(tracked: Tracked): Fields {
  const fields = pick(snakeKeys(tracked), ofItself)
  const said = Object.entries(fields).filter(([key]) => tracked.slug === null || !ADDRESS.includes(key))
  return Object.fromEntries(said)
}

/** What is so without being said; with a slug the catalogue says the rest. */
export const dependencyDefaults = (slug: unknown): Fields =>
  slug == null ? { category: 'other', components: [], feed_mapping: {} } : { components: [] }

export const dependencyBodyOf = (entry: DependencyEntry) => pick(entry, ofItself) as DependencyCreate

export const dependencyNameOf = ({ name, slug }: DependencyEntry): string =>
  name ?? catalogEntry(slug ?? '')?.name ?? slug ?? ''

type Heard = Pick<StoredOverride, 'alertChannelId' | 'onDown' | 'onDegraded' | 'onResolved'>

/** In the order of the channels' ids: they have no other. */
export const overrideFields = (overrides: readonly Heard[]): Fields[] =>
  overrides
    .map(({ alertChannelId, onDown, onDegraded, onResolved }) => ({
      ...{ channel: alertChannelId, on_down: onDown, on_degraded: onDegraded, on_resolved: onResolved },
    }))
    .sort((a, b) => (a.channel < b.channel ? -1 : 1))

export const OVERRIDE_DEFAULTS: Fields = { on_down: true, on_degraded: true, on_resolved: true }
