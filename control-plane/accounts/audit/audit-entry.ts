import { Type } from 'typebox'
import type { Actor } from '../../foundation/web/auth/authentication.ts'
import { Id, nullable, stringEnum, Timestamp } from '../../foundation/web/validation/schemas.ts'

/** Changes of a record, and acts that change no record. A new kind of act is added here. */
export const AUDIT_ACTIONS = [
  ...['created', 'updated', 'deleted'],
  ...['signed_in', 'signed_out', 'password_changed', 'claim_link_made', 'replayed', 'rotated'],
] as const
export type AuditChange = { from: unknown; to: unknown }

export type AuditRow = {
  id: string
  at: Date
  actorKind: Actor['kind'] | 'system'
  actorId: string | null
  actorName: string
  ip: string | null
  action: (typeof AUDIT_ACTIONS)[number]
  resource: string
  resourceId: string | null
  resourceName: string | null
  changes: Record<string, AuditChange>
}

/** An entry of the audit log. */
export const AuditEntry = Type.Object({
  id: Id,
  at: Timestamp,
  actor: Type.Object({
    kind: stringEnum(['api_key', 'user', 'operator', 'system']),
    id: nullable(Id),
    name: Type.String({
      description: 'Name at the time of the change: the name and hint of a key, or the email address of a user.',
    }),
    ip: nullable(Type.String()),
  }),
  action: stringEnum(AUDIT_ACTIONS),
  resource: Type.String({
    description: 'Kind of record, such as `monitor`, `alert_channel`, `status_page` or `member`.',
  }),
  resource_id: nullable(Type.String()),
  resource_name: nullable(Type.String()),
  changes: Type.Record(Type.String(), Type.Object({ from: Type.Unknown(), to: Type.Unknown() }), {
    description: 'Old and new value of each changed field. Values of secrets are masked.',
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
})

/** Values that PostgreSQL wrote as times get the API's format. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00$/
const normalizeTimes = ({ from, to }: AuditChange): AuditChange => {
  const shown = (value: unknown) =>
    typeof value === 'string' && TIME.test(value) ? new Date(value).toISOString() : value
  return { from: shown(from), to: shown(to) }
}

/** An entry as the API returns it. */
export const toAuditResponse = (row: AuditRow) => ({
  id: row.id,
  at: row.at,
  actor: { kind: row.actorKind, id: row.actorId, name: row.actorName, ip: row.ip },
  action: row.action,
  resource: row.resource,
  resource_id: row.resourceId,
  resource_name: row.resourceName,
  changes: Object.fromEntries(Object.entries(row.changes).map(([field, change]) => [field, normalizeTimes(change)])),
  created_at: row.at,
  updated_at: row.at,
})
