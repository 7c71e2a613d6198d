import { type AuditRow, listAudit } from '../accounts/audit/store.ts'
import { isId } from '../platform/ids.ts'
import { notFound } from '../web/errors.ts'
import { type Command, options, table, UsageError } from './command.ts'

const EVERYTHING = { actorId: null, resource: null, resourceId: null, action: null, from: null, to: null }

/** Who changed what. */
export const AUDIT_COMMANDS: Record<string, Command> = {
  'audit list': {
    takes: '[--organization <id>] [--limit <rows>]',
    does: 'prints time, actor, what was done to what, and the fields that changed, newest first',
    more: ['--limit 100  at most so many rows'],
    async run({ db }, args) {
      const { text } = options(args, { optional: ['organization', 'limit'] })
      const limit = Number(text('limit') ?? 100)
      if (!Number.isInteger(limit) || limit < 1) throw new UsageError('--limit has to be a number of rows')
      const organizationId = text('organization')
      // one that was deleted has its log still
      if (organizationId !== undefined && !isId(organizationId)) throw notFound('organization')
      const scope = organizationId === undefined ? null : { organizationId, projectId: null }
      const { rows } = await listAudit(db, scope, EVERYTHING, { limit, offset: 0 })
      return table(rows.map(lineOf))
    },
  },
}

const lineOf = ({ at, actorName, action, resource, resourceId, resourceName, changes }: AuditRow) => [
  at.toISOString(),
  actorName,
  action,
  resource,
  resourceName ?? resourceId,
  Object.keys(changes).join(', '),
]
