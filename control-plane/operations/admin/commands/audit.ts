import type { AuditRow } from '../../../accounts/audit/audit-entry.ts'
import { listAudit } from '../../../accounts/audit/store.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import { notFound } from '../../../foundation/web/server/errors.ts'
import { type AdminCommand, formatTable, parseOptions, UsageError } from '../command.ts'

const NO_FILTER = {
  actorId: null,
  resource: null,
  resourceId: null,
  recordIds: null,
  action: null,
  from: null,
  to: null,
}

/** The audit log. */
export const AUDIT_COMMANDS: Record<string, AdminCommand> = {
  'audit list': {
    usage: '[--organization <id>] [--limit <rows>]',
    summary: 'print time, actor, action, resource and changed fields of the audit log, newest first',
    details: ['--limit <rows>  print at most this many rows; default 100'],
    async run({ db }, args) {
      const { text } = parseOptions(args, { optional: ['organization', 'limit'] })
      const limit = Number(text('limit') ?? 100)
      if (!Number.isInteger(limit) || limit < 1) throw new UsageError('--limit must be a number of rows, at least 1')
      const organizationId = text('organization')
      // a deleted organization still has its audit log
      if (organizationId !== undefined && !isId(organizationId)) throw notFound('organization')
      const scope = organizationId === undefined ? null : { organizationId, projectId: null }
      const { rows } = await listAudit(db, scope, NO_FILTER, { limit, offset: 0 })
      return formatTable(rows.map(toTableRow))
    },
  },
}

const toTableRow = ({ at, actorName, action, resource, resourceId, resourceName, changes }: AuditRow) => [
  at.toISOString(),
  actorName,
  action,
  resource,
  resourceName ?? resourceId,
  Object.keys(changes).join(', '),
]
