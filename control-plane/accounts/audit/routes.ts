import { Type } from 'typebox'
import { isId } from '../../foundation/platform/ids.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import { listRoute } from '../../foundation/web/resource-routes.ts'
import type { App } from '../../foundation/web/server/app.ts'
import {
  Id,
  nullable,
  pageProperties,
  strictObject,
  stringEnum,
  Timestamp,
} from '../../foundation/web/validation/schemas.ts'
import { AUDIT_ACTIONS, type AuditChange, type AuditRow, listAudit } from './store.ts'

const AuditEntry = Type.Object({
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

const AuditQuery = strictObject({
  ...pageProperties,
  actor_id: Type.Optional(Type.String()),
  resource: Type.Optional(Type.String({ maxLength: 100 })),
  resource_id: Type.Optional(Type.String({ maxLength: 100 })),
  action: Type.Optional(stringEnum(AUDIT_ACTIONS)),
  from: Type.Optional(Type.String({ format: 'date-time' })),
  to: Type.Optional(Type.String({ format: 'date-time' })),
})

/** `GET /audit-log`, for admin keys. */
export function auditRoutes(app: App, { db }: { db: Db }): void {
  listRoute(app, '/audit-log', {
    config: { scope: 'admin' },
    summary: 'List audit log entries',
    tags: ['Audit log'],
    querystring: AuditQuery,
    record: AuditEntry,
    list: async (request, bounds) => {
      const { actor_id: actorId = null, resource = null, resource_id: resourceId = null, action = null } = request.query
      const { from, to } = request.query
      if (actorId !== null && !isId(actorId)) return { data: [], total: 0 }
      const span = { from: from ? new Date(from) : null, to: to ? new Date(to) : null }
      const filter = { actorId, resource, resourceId, action, ...span }
      const { rows, total } = await listAudit(db, getCaller(request), filter, bounds)
      return { data: rows.map(toAuditResponse), total }
    },
  })
}

/** Values that PostgreSQL wrote as times get the API's format. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00$/
const normalizeTimes = ({ from, to }: AuditChange): AuditChange => {
  const shown = (value: unknown) =>
    typeof value === 'string' && TIME.test(value) ? new Date(value).toISOString() : value
  return { from: shown(from), to: shown(to) }
}

const toAuditResponse = (row: AuditRow) => ({
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
