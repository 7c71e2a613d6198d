import { isAutomaticUpdate, type PageChange, toPublicChange } from '../../alerting/events/page-event.ts'
import type { AffectedComponents, PageNotice } from './notice-store.ts'

/** More changes than these, told by the system and due together, are one message. */
const MAX_UNBATCHED = 3

/** Which of a page's notices are told in the next message: the oldest, or with it those that storm along with it. */
export function pickNextBatch(notices: PageNotice[], now: Date): PageNotice[] {
  const isStorming = ({ data, dueAt }: PageNotice) => dueAt <= now && isAutomaticUpdate(data)
  const end = notices.findIndex(notice => !isStorming(notice))
  const storm = end === -1 ? notices : notices.slice(0, end)
  return storm.length > MAX_UNBATCHED ? storm : notices.slice(0, 1)
}

/** What of it the page shows: changes of incidents about everything or about something that stands on the page. */
export function toPageChanges(notices: PageNotice[], touched: AffectedComponents[]): PageChange[] {
  const byIncident = new Map(touched.map(one => [one.incidentId, one]))
  return notices.flatMap(notice => {
    const found = byIncident.get(notice.data.incident.id)
    if (!found || !(found.isWhole || found.components.length > 0)) return []
    return toPublicChange(notice, found.components) ?? []
  })
}

/** Who hears of changes: those who chose one of the components, everybody where one is about the whole page. */
export function buildRecipientFilter(changes: PageChange[]): { componentIds: string[]; isWhole: boolean } {
  return {
    componentIds: [...new Set(changes.flatMap(change => change.components.map(({ id }) => id)))],
    isWhole: changes.some(change => change.components.length === 0),
  }
}
