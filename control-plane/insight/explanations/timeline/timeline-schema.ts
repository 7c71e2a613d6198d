import { type TProperties, Type } from 'typebox'
import { AuditEntry } from '../../../accounts/audit/audit-entry.ts'
import { DELIVERY_STATUSES } from '../../../alerting/deliveries/types.ts'
import { Id, nullable, stringEnum, Timestamp } from '../../../foundation/web/validation/schemas.ts'
import { CheckResult } from '../../../monitoring/fleet/on-demand/check-result.ts'
import { MONITOR_STATUSES } from '../../../monitoring/monitors/types.ts'
import { INCIDENT_STATUSES, SEVERITIES } from '../../../verdict/incidents/lifecycle.ts'
import { ExplainedCheckRecord, WITHHELD_PROPERTIES } from '../explained-schema.ts'

/** The kinds of items, in the order in which items of the same moment are listed. */
export const TIMELINE_KINDS = [
  'change',
  'maintenance',
  'silence',
  'vendor_incident',
  'check',
  'transition',
  'incident_opened',
  'incident_acknowledged',
  'incident_updated',
  'withheld_alert',
  'delivery',
  'incident_resolved',
] as const
export type TimelineKind = (typeof TIMELINE_KINDS)[number]

const item = <T extends TProperties>(kind: TimelineKind, description: string, properties: T) =>
  Type.Object({ at: Timestamp, kind: stringEnum([kind]), ...properties }, { description })

const Status = nullable(stringEnum(MONITOR_STATUSES))

const Item = Type.Union([
  item('check', 'A check of a monitor, at its scheduled time, near the start or the end of the incident.', {
    monitor_id: Id,
    region: Type.String(),
    check: ExplainedCheckRecord,
  }),
  item('transition', 'A change of the status of a monitor.', {
    monitor_id: Id,
    transition_id: Id,
    from: Status,
    to: Status,
    quorum: stringEnum(['full', 'reduced']),
    summary: Type.String(),
    has_explanation: Type.Boolean(),
    explanation: nullable(Type.Object({}, { additionalProperties: true }), {
      description:
        'Of the first 20 transitions; the others are in `GET /monitors/{id}/transitions`. Null also after the retention time of explanations.',
    }),
  }),
  item('incident_opened', 'The start of the incident.', {
    title: Type.String(),
    severity: stringEnum(SEVERITIES),
    source: stringEnum(['manual', 'automatic']),
  }),
  item('incident_acknowledged', 'The first acknowledgement.', { user_id: nullable(Id) }),
  item('incident_updated', 'An update of the incident.', {
    update_id: Id,
    status: stringEnum(INCIDENT_STATUSES),
    message: Type.String(),
    is_internal: Type.Boolean(),
    author_id: nullable(Id),
  }),
  item('incident_resolved', 'The end of the incident.', {}),
  item('delivery', 'A message to a channel about the incident or its monitor, at the time at which it was queued.', {
    delivery_id: Type.String(),
    event: Type.String(),
    alert_channel_id: Id,
    channel_name: Type.String(),
    channel_type: Type.String(),
    status: stringEnum(DELIVERY_STATUSES),
    attempts: Type.Integer({ description: 'Number of attempts.' }),
    received_at: nullable(Timestamp, { description: 'When the receiver accepted it. Null until then.' }),
    response_code: nullable(Type.Integer(), { description: 'Of the last attempt. Null without a response.' }),
  }),
  item(
    'withheld_alert',
    'A status change of a monitor that was not sent, at its time: in maintenance, silenced, or below a parent that is down (`parent`), was down a moment ago (`grace`) or may be down (`doubt`).',
    {
      ...WITHHELD_PROPERTIES,
      monitor_id: Id,
      is_waiting: Type.Boolean({ description: 'Whether it may be sent when the reason has ended.' }),
    },
  ),
  item('maintenance', 'A maintenance period of a monitor that overlaps the incident, at its start.', {
    window_id: Id,
    name: nullable(Type.String(), { description: 'Null when the window was deleted.' }),
    monitor_id: Id,
    ends_at: Timestamp,
  }),
  item(
    'silence',
    'A silence of a monitor that overlaps the incident, at its start. One that was ended early is not listed.',
    {
      silence_id: Id,
      reason: nullable(Type.String()),
      monitor_id: Id,
      ends_at: Timestamp,
    },
  ),
  item('vendor_incident', 'An incident of a vendor of the project during an automatic incident, at its start.', {
    dependency_id: Id,
    name: Type.String(),
    title: Type.String(),
    severity: Type.String(),
    source_url: Type.String(),
    resolved_at: nullable(Timestamp),
  }),
  item('change', 'A change of a monitor in the hour before the start, from the audit log.', { entry: AuditEntry }),
])

const Count = Type.Object({
  kind: stringEnum(TIMELINE_KINDS),
  items: Type.Integer(),
  truncated: Type.Boolean({ description: 'Whether there are more than are listed.' }),
})

const Evidence = Type.Object({
  monitor_id: Id,
  transition_id: Id,
  failing: CheckResult,
  healthy: nullable(CheckResult, {
    description:
      'The last check of a region that was up; or, when no other region was up, the last one of the same region that was up before the first failure, in the hour or the three intervals before it. Null without one.',
  }),
})

/** Everything that happened around an incident, on one axis of time. */
export const IncidentTimeline = Type.Object(
  {
    incident_id: Id,
    monitor_ids: Type.Array(Id, { description: 'The monitors whose checks, transitions and changes are listed.' }),
    monitors_truncated: Type.Boolean(),
    items: Type.Array(Item, { description: 'Oldest first.' }),
    evidence: nullable(Evidence, {
      description:
        'Two complete checks to compare, of the transition to `down` next to the start of the incident: `failing`, the last one of a region that failed, and `healthy`. Null without such a transition (from an hour before the start, of an outage that lasted until then), when its explanation or the check was deleted, and while the history cannot be read.',
    }),
    counts: Type.Array(Count, { description: 'One per kind that is not omitted.' }),
    omitted: Type.Array(
      Type.Object({
        kind: stringEnum(TIMELINE_KINDS),
        reason: stringEnum(['unavailable', 'insufficient_scope']),
      }),
      {
        description:
          'Kinds that are not listed: `unavailable` while the history cannot be read, `insufficient_scope` for changes without an admin key.',
      },
    ),
  },
  { title: 'IncidentTimeline' },
)
