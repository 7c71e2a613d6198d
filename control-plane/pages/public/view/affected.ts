import type { StoredComponent } from '../../core/records.ts'
import type { MaintenanceView } from '../../core/types.ts'
import { MAX_NAMED_COMPONENTS } from '../../templates/labels.ts'

/** How many components the incidents and the maintenance of a page list together, for its JSON files. */
const MAX_LISTED_COMPONENTS = 2_000

export type AffectedView = Required<Pick<MaintenanceView, 'componentIds' | 'componentNames' | 'componentCount'>>

/** The components of these monitors. */
export function listAffected(monitorIds: readonly string[], components: readonly StoredComponent[]): StoredComponent[] {
  const ids = new Set(monitorIds)
  return components.filter(({ monitor }) => monitor !== null && ids.has(monitor.id))
}

/**
 * Describes affected components, at most `max` of them. After 2,000 components on a page, each incident lists only its
 * first one, so that no document of a page grows with components times incidents
 * (docs/design/status-pages.md#feeds-badges-and-embeds). Call it for the most important incidents first.
 */
export function createAffectedViews(components: readonly StoredComponent[]) {
  let left = MAX_LISTED_COMPONENTS
  return (monitorIds: readonly string[], max = Number.POSITIVE_INFINITY): AffectedView => {
    const affected = listAffected(monitorIds, components)
    const listed = affected.slice(0, Math.max(1, Math.min(max, left)))
    left -= listed.length
    return {
      componentIds: listed.map(({ id }) => id),
      componentNames: affected.slice(0, MAX_NAMED_COMPONENTS).map(({ name }) => name),
      componentCount: affected.length,
    }
  }
}
