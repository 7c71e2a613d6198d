/** What visitors of a status page see of an incident that is being written. Pure. */
import type { IncidentView, UpdateView } from '../../../../pages/core/types.ts'
import type { Timeline } from '../axis/axis.ts'
import type { Incident } from '../incident-words.tsx'

/** An incident as a form has it. `id` null: it does not exist yet. */
export type DraftIncident = Pick<Incident, 'title' | 'severity' | 'status' | 'monitor_ids'> & {
  id: string | null
  started_at: string | null
  resolved_at: string | null
}

/** A message that is being written; null: nothing that visitors would see. */
export type DraftUpdate = { message: string; status: Incident['status'] } | null

/** The public updates in a timeline, newest first. */
export const listPublicUpdates = ({ items }: Pick<Timeline, 'items'>): UpdateView[] =>
  items
    .flatMap(item =>
      item.kind === 'incident_updated' && !item.is_internal
        ? [{ id: item.update_id, status: item.status, message: item.message, at: item.at }]
        : [],
    )
    .reverse()

/** The incident as templates of status pages show it. `components`: of the page. */
export function buildVisitorView(
  incident: DraftIncident,
  earlier: readonly UpdateView[],
  update: DraftUpdate,
  components: readonly { id: string; name: string; monitor_id: string | null }[],
  nowMs: number,
): IncidentView {
  const now = new Date(nowMs).toISOString()
  const status = update?.status ?? incident.status
  const affected = components.filter(({ monitor_id: id }) => id !== null && incident.monitor_ids.includes(id))
  return {
    ...{ id: incident.id ?? 'new', title: incident.title, status, severity: incident.severity },
    startedAt: incident.started_at ?? now,
    resolvedAt: status === 'resolved' ? (incident.resolved_at ?? now) : null,
    updates: [...(update && update.message !== '' ? [{ id: 'new', ...update, at: now }] : []), ...earlier],
    ...{ postmortem: null, componentIds: affected.map(({ id }) => id) },
    componentNames: affected.map(({ name }) => name),
  }
}
