import { Type } from 'typebox'
import { isId } from '../../foundation/platform/ids.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import { listRoute } from '../../foundation/web/resource-routes.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { pageProperties, strictObject, stringEnum } from '../../foundation/web/validation/schemas.ts'
import { AUDIT_ACTIONS, AuditEntry, toAuditResponse } from './audit-entry.ts'
import { listAudit, listMonitorRecordIds } from './store.ts'

const AuditQuery = strictObject({
  ...pageProperties,
  actor_id: Type.Optional(Type.String()),
  resource: Type.Optional(Type.String({ maxLength: 100 })),
  resource_id: Type.Optional(Type.String({ maxLength: 100 })),
  action: Type.Optional(stringEnum(AUDIT_ACTIONS)),
  monitor_id: Type.Optional(
    Type.String({
      description: 'Entries of this monitor and of its alert rules, also those that were deleted.',
    }),
  ),
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
      const { from, to, monitor_id: monitorId } = request.query
      if ([actorId ?? undefined, monitorId].some(id => id !== undefined && !isId(id))) return { data: [], total: 0 }
      const scope = getCaller(request)
      const recordIds = monitorId === undefined ? null : await listMonitorRecordIds(db, scope.projectId, monitorId)
      const span = { from: from ? new Date(from) : null, to: to ? new Date(to) : null }
      const filter = { actorId, resource, resourceId, recordIds, action, ...span }
      const { rows, total } = await listAudit(db, scope, filter, bounds)
      return { data: rows.map(toAuditResponse), total }
    },
  })
}
