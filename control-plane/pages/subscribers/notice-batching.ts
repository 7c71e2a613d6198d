import { getPeriodId } from '../../alerting/events/maintenance-event.ts'
import {
  isAutomaticUpdate,
  type PageChange,
  type PageIncidentChange,
  toPublicChange,
} from '../../alerting/events/page-event.ts'
import { type IncidentCause, toPublicMessage, toPublicTitle } from '../core/incident-names.ts'
import type { AffectedComponents, IncidentNotice, MaintenanceNotice, PageNotice } from './notice-store.ts'

/** More automatic changes than this that are due together become one message. */
const MAX_UNBATCHED = 3

export const isMaintenanceNotice = (notice: PageNotice): notice is MaintenanceNotice =>
  notice.name.startsWith('maintenance.')

const isIncidentNotice = (notice: PageNotice): notice is IncidentNotice => !isMaintenanceNotice(notice)

/**
 * The notices that are not sent, because they became wrong while they waited: the announcement of maintenance that has
 * begun, an announcement and its changes together with its cancellation, the beginning or a change of what has ended, and
 * the end of what was neither announced nor begun for subscribers. `sentPeriods`: the periods of which a notice was sent.
 */
export function listObsoleteNotices(notices: PageNotice[], sentPeriods: ReadonlySet<string>, now: Date): PageNotice[] {
  const obsolete = new Set<PageNotice>()
  /** periods whose beginning is not sent, because they have ended */
  const unbegun = new Set<string>()
  /** announcements that no later notice cancels, with their changes, by period */
  const announced = new Map<string, PageNotice[]>()
  for (const notice of notices.filter(isMaintenanceNotice).filter(({ pageEventId }) => pageEventId === null)) {
    const { starts_at, ends_at } = notice.data.maintenance
    const period = getPeriodId(notice.data.maintenance)
    const announcement = announced.get(period)
    if (notice.name === 'maintenance.announced') {
      announced.set(period, [notice])
      if (new Date(starts_at) <= now) obsolete.add(notice)
    } else if (notice.name === 'maintenance.begun' || notice.name === 'maintenance.changed') {
      if (notice.name === 'maintenance.changed') announcement?.push(notice)
      if (new Date(ends_at) > now) {
        // its end is sent, also an early one
        if (notice.name === 'maintenance.begun') announced.delete(period)
        continue
      }
      obsolete.add(notice)
      if (notice.name === 'maintenance.begun' && !sentPeriods.has(period)) unbegun.add(period)
    } else if (notice.name === 'maintenance.ended' && (announcement || unbegun.has(period))) {
      obsolete.add(notice)
    } else if (notice.name === 'maintenance.cancelled' && announcement) {
      for (const one of [...announcement, notice]) obsolete.add(one)
      announced.delete(period)
    }
  }
  return [...obsolete]
}

/** The notices of a page for the next message: the oldest, or a series of automatic ones that begins with it. */
export function pickNextBatch(notices: PageNotice[], now: Date): PageNotice[] {
  const isBatchable = (notice: PageNotice) =>
    notice.dueAt <= now && isIncidentNotice(notice) && isAutomaticUpdate(notice.data)
  const end = notices.findIndex(notice => !isBatchable(notice))
  const batch = end === -1 ? notices : notices.slice(0, end)
  return batch.length > MAX_UNBATCHED ? batch : notices.slice(0, 1)
}

/** The changes that concern the page: of incidents about the whole page or about one of its components. */
export function toPageChanges(notices: IncidentNotice[], affected: AffectedComponents[]): PageChange[] {
  const byIncident = new Map(affected.map(one => [one.incidentId, one]))
  return notices.flatMap(notice => {
    const found = byIncident.get(notice.data.incident.id)
    if (!found || !(found.isWhole || found.components.length > 0)) return []
    const change = toPublicChange(notice, found.components)
    return change ? nameByComponent(change, found.cause) : []
  })
}

const nameByComponent = (change: PageIncidentChange, cause: IncidentCause | null): PageIncidentChange => ({
  ...change,
  incident: { ...change.incident, title: toPublicTitle(change.incident.title, cause) },
  update: change.update && { ...change.update, message: toPublicMessage(change.update.message, cause) },
})

/** The recipients of changes: subscribers of one of the components, or all when a change concerns the whole page. */
export function buildRecipientFilter(changes: PageChange[]): { componentIds: string[]; isWhole: boolean } {
  return {
    componentIds: [...new Set(changes.flatMap(change => change.components.map(({ id }) => id)))],
    isWhole: changes.some(change => change.components.length === 0),
  }
}
