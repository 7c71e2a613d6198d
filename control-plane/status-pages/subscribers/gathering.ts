import { isOwnWord, type PageChange, publicChange } from '../../events/page-event.ts'
import type { Notice, Touched } from './notice-store.ts'

/** More changes than these, told by the system and due together, are one message. */
const MOST_SINGLE = 3

/** Which of a page's notices are told in the next message: the oldest, or with it those that storm along with it. */
export function nextToTell(notices: Notice[], now: Date): Notice[] {
  const isStorming = ({ data, dueAt }: Notice) => dueAt <= now && isOwnWord(data)
  const end = notices.findIndex(notice => !isStorming(notice))
  const storm = end === -1 ? notices : notices.slice(0, end)
  return storm.length > MOST_SINGLE ? storm : notices.slice(0, 1)
}

/** What of it the page shows: changes of incidents about everything or about something that stands on the page. */
export function changesOf(notices: Notice[], touched: Touched[]): PageChange[] {
  const byIncident = new Map(touched.map(one => [one.incidentId, one]))
  return notices.flatMap(notice => {
    const found = byIncident.get(notice.data.incident.id)
    if (!found || !(found.isWhole || found.components.length > 0)) return []
    return publicChange(notice, found.components) ?? []
  })
}

/** Who hears of changes: those who chose one of the components, everybody where one is about the whole page. */
export function reachOf(changes: PageChange[]): { componentIds: string[]; isWhole: boolean } {
  return {
    componentIds: [...new Set(changes.flatMap(change => change.components.map(({ id }) => id)))],
    isWhole: changes.some(change => change.components.length === 0),
  }
}
