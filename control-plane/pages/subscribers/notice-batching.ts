import { isAutomaticUpdate, type PageChange, toPublicChange } from '../../alerting/events/page-event.ts'
import type { AffectedComponents, PageNotice } from './notice-store.ts'

/** More automatic changes than this that are due together become one message. */
const MAX_UNBATCHED = 3

/** The notices of a page for the next message: the oldest, or a series of automatic ones that begins with it. */
export function pickNextBatch(notices: PageNotice[], now: Date): PageNotice[] {
  const isBatchable = ({ data, dueAt }: PageNotice) => dueAt <= now && isAutomaticUpdate(data)
  const end = notices.findIndex(notice => !isBatchable(notice))
  const batch = end === -1 ? notices : notices.slice(0, end)
  return batch.length > MAX_UNBATCHED ? batch : notices.slice(0, 1)
}

/** The changes that concern the page: of incidents about the whole page or about one of its components. */
export function toPageChanges(notices: PageNotice[], affected: AffectedComponents[]): PageChange[] {
  const byIncident = new Map(affected.map(one => [one.incidentId, one]))
  return notices.flatMap(notice => {
    const found = byIncident.get(notice.data.incident.id)
    if (!found || !(found.isWhole || found.components.length > 0)) return []
    return toPublicChange(notice, found.components) ?? []
  })
}

/** The recipients of changes: subscribers of one of the components, or all when a change concerns the whole page. */
export function buildRecipientFilter(changes: PageChange[]): { componentIds: string[]; isWhole: boolean } {
  return {
    componentIds: [...new Set(changes.flatMap(change => change.components.map(({ id }) => id)))],
    isWhole: changes.some(change => change.components.length === 0),
  }
}
