import type { FastifyRequest } from 'fastify'
import { now } from '../../foundation/platform/time/clock.ts'
import { withActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import type { HeavyWrites } from '../../foundation/web/limits/heavy-writes.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { toApiError } from '../../foundation/web/server/error-response.ts'
import { dataSchema, responseSchemas } from '../../foundation/web/validation/schemas.ts'
import type { CompileSchema } from '../../foundation/web/validation/validation-errors.ts'
import { listMonitorIds } from '../../monitoring/monitors/listing/list-store.ts'
import { parseMonitorFilter } from '../../monitoring/monitors/listing/monitor-filter.ts'
import { MonitorUpdate } from '../../monitoring/monitors/settings/schema.ts'
import { changeMonitors } from './actions.ts'
import type { BulkChangeTools, ItemOutcome } from './chunk-actions.ts'
import { assertAllowedCount, type ChangeTarget, listTargets } from './request.ts'
import { BulkChange, BulkChangeRecord, type ITEM_RESULTS, MAX_MONITORS } from './schema.ts'
import { buildUndo } from './undo.ts'

type BulkChangeContext = Omit<BulkChangeTools, 'checkUpdate' | 'newSilences'> & { heavyWrites: HeavyWrites }

const DESCRIPTION = `Changes each monitor as the operation for one monitor does, or shows what would change. A monitor that is
refused does not stop the others, and each monitor changes completely or not at all. Monitors come from \`monitor_ids\`, from
\`query\` (the filters of \`GET /monitors\`), or from \`changes\`.`

/** Changes of many monitors with one request (docs/design/bulk-changes.md). */
export function bulkChangeRoutes(app: App, context: BulkChangeContext): void {
  const compile = app.validatorCompiler as unknown as CompileSchema
  const checkUpdate = compile({ schema: MonitorUpdate })
  app.post(
    '/monitors/bulk-changes',
    {
      config: { isHeavy: true },
      onRequest: context.heavyWrites.assertCapacity,
      schema: {
        summary: 'Change many monitors',
        description: DESCRIPTION,
        tags: ['Monitors'],
        body: BulkChange,
        response: responseSchemas(200, dataSchema(BulkChangeRecord), 400, 429, 503),
      },
    },
    async request => {
      const isDryRun = request.body.dry_run ?? true
      const targets = await findTargets(context, request)
      const describeError = (thrown: unknown) => {
        const error = toApiError(thrown, request)
        if (error.status >= 500) request.log.error({ err: thrown, request_id: request.id }, 'a bulk change stopped')
        return error
      }
      const tools = { ...withActor(context, request), checkUpdate, describeError, newSilences: new Map() }
      const outcomes = await changeMonitors(tools, getCaller(request), targets, isDryRun, now())
      return { data: toResponse(outcomes, isDryRun) }
    },
  )
}

async function findTargets(
  { db }: BulkChangeContext,
  request: FastifyRequest<{ Body: BulkChange }>,
): Promise<ChangeTarget[]> {
  const { query, change } = request.body
  const targets = listTargets(request.body)
  if (targets) return targets
  const filter = parseMonitorFilter(query!)
  const ids = await listMonitorIds(db, getCaller(request).projectId, filter, MAX_MONITORS + 1)
  assertAllowedCount(ids.length)
  return ids.map(monitorId => ({ monitorId, change: change! }))
}

function toResponse(outcomes: readonly ItemOutcome[], isDryRun: boolean) {
  const items = outcomes.map(({ monitorId, name, difference, error }) => ({
    ...{ monitor_id: monitorId, name, changes: difference?.fields ?? [] },
    result: error ? 'refused' : difference?.fields.length ? 'changed' : ('unchanged' as (typeof ITEM_RESULTS)[number]),
    error: error && { code: error.code, message: error.message },
  }))
  const count = (result: (typeof ITEM_RESULTS)[number]) => items.filter(item => item.result === result).length
  const restorations = outcomes.flatMap(({ monitorId, difference }) =>
    difference && difference.fields.length > 0 ? { monitorId, change: difference.restore } : [],
  )
  return {
    dry_run: isDryRun,
    ...{ changed: count('changed'), unchanged: count('unchanged'), refused: count('refused') },
    items,
    undo: isDryRun ? null : buildUndo(restorations),
  }
}
