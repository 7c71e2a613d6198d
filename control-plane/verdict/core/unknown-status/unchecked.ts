import { type EventRow, type MonitorEventData, toMonitorSubject } from '../../../alerting/events/catalog.ts'
import { toEventIncident } from '../../incidents/event-incident.ts'
import { resetStreaks } from '../rules/streaks.ts'
import type { MonitorState } from '../types.ts'

/**
 * When the newest check of a monitor counted, in JetStream time; null if none is known. A second opinion counts here as
 * well: it may contradict the results slot after slot, but the monitor is checked.
 */
export function findLastCountedMs({ cells }: Pick<MonitorState, 'cells'>): number | null {
  let newestMs: number | null = null
  for (const { votedAtMs, secondOpinion } of cells) {
    const atMs = Math.max(votedAtMs ?? 0, secondOpinion?.takenAtMs ?? 0)
    if (atMs > (newestMs ?? 0)) newestMs = atMs
  }
  return newestMs
}

/**
 * The state of a monitor for which no check has counted since `sinceMs`. It keeps its status, with which the next
 * verdict is compared, and its outage. Every region begins like a new one.
 */
export function markUnchecked(state: MonitorState, sinceMs: number): MonitorState {
  return {
    ...state,
    noMajoritySinceMs: null,
    quorumLostSinceMs: null,
    unchecked: { sinceMs, isTold: false },
    cells: state.cells.map(cell => resetStreaks({ ...cell, state: 'pending' })),
  }
}

/** The summary of the transition to no status begins with this. Other losses of a status have other summaries. */
export const UNCHECKED_SUMMARY = 'Not checked:'

/** Why a monitor has no status, as a text for users. */
export const formatUncheckedReason = (sinceMs: number): string =>
  `no check has counted since ${new Date(sinceMs).toISOString()}`

type Monitor = { id: string; projectId: string; name: string; url: string | null; type: string; regions: string[] }
type Incident = { id: string; title: string; status: string; severity: string; started_at: Date }

/** The event for the owner of a monitor that is no longer checked. An open incident stays open. */
export function buildUncheckedEvent(
  id: string,
  { projectId, name, url, type, regions, ...monitor }: Monitor,
  sinceMs: number,
  incident: Incident | null,
  publicUrl: string,
  now: Date,
): EventRow {
  const data: MonitorEventData = {
    monitor: { id: monitor.id, name, url, type, status: null },
    check: {
      region: regions[0] ?? '',
      regions: [],
      status_code: 0,
      response_time_ms: 0,
      error: formatUncheckedReason(sinceMs),
    },
    ssl_expiry_days: null,
    domain_expiry_days: null,
    down_duration: null,
    incident: toEventIncident(incident),
    dashboard_url: `${publicUrl}/monitors/${monitor.id}`,
  }
  return { id, projectId, name: 'monitor.unchecked', subject: toMonitorSubject(monitor.id), data, occurredAt: now }
}
