import type { Static } from 'typebox'
import { type AuditRow, toAuditResponse } from '../../../accounts/audit/audit-entry.ts'
import type { PossibleCause } from '../../../verdict/incidents/api/possible-cause-store.ts'
import type { IncidentRecord } from '../../../verdict/incidents/store.ts'
import type { IncidentUpdateRecord } from '../../../verdict/incidents/update-store.ts'
import { toExplainedCheck } from '../votes/newest-checks.ts'
import type { SuppressedAlert } from '../withheld-store.ts'
import { type IncidentTimeline, TIMELINE_KINDS, type TimelineKind } from './timeline-schema.ts'
import type {
  TimelineCheck,
  TimelineDelivery,
  TimelinePeriod,
  TimelineSilence,
  TimelineTransition,
} from './timeline-store.ts'

type TimelineItem = Static<typeof IncidentTimeline>['items'][number]

/** Everything that was read, oldest first in each list. A text is the reason why a list was not read. */
type TimelineParts = {
  transitions: TimelineTransition[]
  checks: TimelineCheck[] | 'unavailable'
  changes: AuditRow[] | 'insufficient_scope'
  updates: IncidentUpdateRecord[]
  deliveries: TimelineDelivery[]
  withheld: SuppressedAlert[]
  periods: TimelinePeriod[]
  silences: TimelineSilence[]
  vendorIncidents: PossibleCause[]
}

/** The items of one kind, and whether there are more than the limit. */
type Part = { kind: TimelineKind; items: TimelineItem[]; truncated: boolean }

/** The answer of `GET /incidents/{id}/timeline`. `limits`: the number of items of a kind; one more shows that it is exceeded. */
export function buildTimeline(
  incident: IncidentRecord,
  monitorIds: string[],
  parts: TimelineParts,
  limits: Record<keyof TimelineParts, number>,
) {
  const listed = listParts(incident, parts, limits)
  const omitted = [
    ...(parts.checks === 'unavailable' ? [{ kind: 'check' as const, reason: parts.checks }] : []),
    ...(parts.changes === 'insufficient_scope' ? [{ kind: 'change' as const, reason: parts.changes }] : []),
  ]
  const shown = listed.filter(({ kind }) => omitted.every(one => one.kind !== kind))
  return {
    incident_id: incident.id,
    monitor_ids: monitorIds,
    monitors_truncated: monitorIds.length < incident.monitor_ids.length,
    items: shown.flatMap(({ items }) => items).sort(compareItems),
    counts: shown.map(({ kind, items, truncated }) => ({ kind, items: items.length, truncated })),
    omitted,
  }
}

function listParts(
  incident: IncidentRecord,
  { checks, changes, ...parts }: TimelineParts,
  limits: Record<keyof TimelineParts, number>,
): Part[] {
  const cut = <Row>(kind: TimelineKind, rows: Row[], limit: number, toItem: (row: Row) => TimelineItem): Part => ({
    kind,
    items: rows.slice(0, limit).map(toItem),
    truncated: rows.length > limit,
  })
  return [
    cut('change', changes === 'insufficient_scope' ? [] : changes, limits.changes, toChangeItem),
    cut('maintenance', parts.periods, limits.periods, toMaintenanceItem),
    cut('silence', parts.silences, limits.silences, toSilenceItem),
    cut('vendor_incident', parts.vendorIncidents, limits.vendorIncidents, toVendorItem),
    cutChecks(checks === 'unavailable' ? [] : checks, limits.checks),
    cut('transition', parts.transitions, limits.transitions, toTransitionItem),
    ...listIncidentParts(incident),
    cut('incident_updated', parts.updates, limits.updates, toUpdateItem),
    cut('withheld_alert', parts.withheld, limits.withheld, alert => ({ ...alert, kind: 'withheld_alert' })),
    cut('delivery', parts.deliveries, limits.deliveries, toDeliveryItem),
  ]
}

function listIncidentParts(incident: IncidentRecord): Part[] {
  const { started_at, acknowledged_at, acknowledged_by, resolved_at, title, severity, source } = incident
  const opened: TimelineItem = { at: started_at, kind: 'incident_opened', title, severity, source }
  const part = (kind: TimelineKind, items: TimelineItem[]): Part => ({ kind, items, truncated: false })
  return [
    part('incident_opened', [opened]),
    part(
      'incident_acknowledged',
      acknowledged_at ? [{ at: acknowledged_at, kind: 'incident_acknowledged', user_id: acknowledged_by }] : [],
    ),
    part('incident_resolved', resolved_at ? [{ at: resolved_at, kind: 'incident_resolved' }] : []),
  ]
}

/** The limit holds for the checks around the start and around the end, each. */
function cutChecks(rows: TimelineCheck[], limit: number): Part {
  const spans = [rows.filter(row => row.at_start === 1), rows.filter(row => row.at_start === 0)]
  return {
    kind: 'check',
    items: spans.flatMap(span => span.slice(0, limit).map(toCheckItem)),
    truncated: spans.some(span => span.length > limit),
  }
}

function toCheckItem({ monitor_id, region, at_start: _, ...row }: TimelineCheck): TimelineItem {
  const check = toExplainedCheck(row)
  return { at: check.scheduled_at, kind: 'check', monitor_id, region, check }
}

const toTransitionItem = ({
  id,
  first_failure_at: _,
  interval_seconds: __,
  ...row
}: TimelineTransition): TimelineItem => ({
  ...row,
  kind: 'transition',
  transition_id: id,
})

const toUpdateItem = ({
  id,
  status,
  message,
  is_internal,
  author_id,
  created_at,
}: IncidentUpdateRecord): TimelineItem => ({
  ...{ at: created_at, kind: 'incident_updated', update_id: id },
  ...{ status, message, is_internal, author_id },
})

function toDeliveryItem({ id, channel_id, last, created_at, ...row }: TimelineDelivery): TimelineItem {
  const isReceived = row.status === 'delivered' && last !== null
  const receivedAt = isReceived ? new Date(Date.parse(last.at) + last.duration_ms) : null
  return {
    ...{ at: created_at, kind: 'delivery', delivery_id: id, alert_channel_id: channel_id },
    ...{ ...row, received_at: receivedAt, response_code: last?.response_code ?? null },
  }
}

const toMaintenanceItem = ({ starts_at, ...period }: TimelinePeriod): TimelineItem => ({
  ...{ at: starts_at, kind: 'maintenance' },
  ...period,
})

const toSilenceItem = ({ created_at, ...silence }: TimelineSilence): TimelineItem => ({
  ...{ at: created_at, kind: 'silence' },
  ...silence,
})

const toVendorItem = ({ started_at, ...incident }: PossibleCause): TimelineItem => ({
  ...{ at: started_at, kind: 'vendor_incident' },
  ...incident,
})

const toChangeItem = (row: AuditRow): TimelineItem => ({ at: row.at, kind: 'change', entry: toAuditResponse(row) })

const toMs = ({ at }: TimelineItem) => new Date(at).getTime()

/** Oldest first; items of the same moment in the order of their kinds. */
const compareItems = (a: TimelineItem, b: TimelineItem): number =>
  toMs(a) - toMs(b) || TIMELINE_KINDS.indexOf(a.kind) - TIMELINE_KINDS.indexOf(b.kind)
