import { type EventRow, type MonitorEventData, toMonitorSubject } from '../../alerting/events/catalog.ts'
import type { MonitorState } from '../core/types.ts'
import { toEventIncident } from '../incidents/event-incident.ts'

export type ExpiryKind = 'tls' | 'domain'

const EVENT_NAMES = { tls: 'monitor.ssl_expiry', domain: 'monitor.domain_expiry' } as const

type Monitor = {
  id: string
  projectId: string
  name: string
  url: string | null
  type: string
  status: string | null
  regions: string[]
}
type Incident = { id: string; title: string; status: string; severity: string; started_at: Date }

/** Further data of a warning. */
type ExpiryEventContext = { state: MonitorState | null; incident: Incident | null; publicUrl: string }

/**
 * The warning that a certificate or a domain registration ends in `days` days. Its `check` is the last one that
 * counted, whatever its result.
 */
export function buildExpiryEvent(
  id: string,
  kind: ExpiryKind,
  monitor: Monitor,
  days: number,
  { state, incident, publicUrl }: ExpiryEventContext,
  now: Date,
): EventRow {
  const { name, url, type, status } = monitor
  const data: MonitorEventData = {
    monitor: { id: monitor.id, name, url, type, status },
    check: findLastCheck(monitor, state),
    ssl_expiry_days: kind === 'tls' ? days : null,
    domain_expiry_days: kind === 'domain' ? days : null,
    down_duration: null,
    incident: toEventIncident(incident),
    dashboard_url: `${publicUrl}/monitors/${monitor.id}`,
  }
  const { projectId } = monitor
  return { id, projectId, name: EVENT_NAMES[kind], subject: toMonitorSubject(monitor.id), data, occurredAt: now }
}

function findLastCheck({ regions }: Monitor, state: MonitorState | null): MonitorEventData['check'] {
  const cells = state?.cells ?? []
  const checks = cells.flatMap(({ last }) => last ?? []).toSorted((a, b) => b.scheduledAtMs - a.scheduledAtMs)
  const failing = cells.filter(cell => cell.state === 'failing').map(({ region }) => region)
  return {
    region: checks[0]?.region ?? regions[0] ?? '',
    regions: failing,
    status_code: checks[0]?.statusCode ?? 0,
    response_time_ms: Math.round(checks[0]?.responseTimeMs ?? 0),
    error: checks[0]?.error?.message ?? '',
  }
}
