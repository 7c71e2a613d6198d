import { Type } from 'typebox'
import { assertStillHasAccess } from '../../accounts/api-keys/actions.ts'
import { isId } from '../../foundation/platform/ids.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { withActor } from '../../foundation/web/auth/audit-actor.ts'
import { type ApiCaller, getCaller } from '../../foundation/web/auth/authentication.ts'
import type { HeavyWrites } from '../../foundation/web/limits/heavy-writes.ts'
import { createRoute, listRoute, readRoute, updateRoute } from '../../foundation/web/resource-routes.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { found } from '../../foundation/web/server/errors.ts'
import { responseSchemas } from '../../foundation/web/validation/schemas.ts'
import type { CompileSchema } from '../../foundation/web/validation/validation-errors.ts'
import { changeAuth, changeMonitor, createMonitor, createMonitors, type MonitorTools } from './actions.ts'
import { createMonitorCounter } from './count-reader.ts'
import { listIdsWithIssues, listMonitorsWithIssues, type MonitorPage } from './listing/issue-reader.ts'
import { listMonitors } from './listing/list-store.ts'
import { type MonitorFilter, MonitorQuery, parseMonitorFilter } from './listing/monitor-filter.ts'
import { GuaranteeRecord, MonitorWithGuarantee, toGuaranteeResponse } from './responses/guarantee-record.ts'
import { MonitorRecord } from './responses/monitor-record.ts'
import {
  type MonitoringState,
  type MonitoringStateReader,
  type MonitorResponseTools,
  toMonitorResponse,
} from './responses/monitor-response.ts'
import { findItemProblems } from './settings/bulk-problems.ts'
import { AuthUpdate, MonitorBulk, MonitorCreate, MonitorList, MonitorUpdate } from './settings/schema.ts'
import { findMonitor, MONITOR_VERSION } from './store.ts'
import type { StoredMonitor } from './types.ts'

type MonitorContext = MonitorTools &
  MonitorResponseTools & {
    readMonitoringState: MonitoringStateReader
    heavyWrites: HeavyWrites
  }

const BulkResponse = Type.Object({
  monitors: Type.Array(MonitorRecord),
  errors: Type.Array(Type.Object({ index: Type.Integer(), error: Type.String() })),
})
const tags = ['Monitors']

/** The resource `/monitors` (docs/design/monitors.md). */
export function monitorRoutes(app: App, context: MonitorContext): void {
  readRoutes(app, context)
  createRoutes(app, context)
  updateRoutes(app, context)
}

function readRoutes(app: App, context: MonitorContext): void {
  const { db, readMonitoringState } = context
  const count = createMonitorCounter(db)
  const excludeIssues = async (projectId: string, fields: MonitorFilter): Promise<MonitorFilter> => ({
    ...fields,
    among: { ids: await listIdsWithIssues(db, projectId, fields, readMonitoringState), isIncluded: false },
  })
  const listAll = async (projectId: string, filter: MonitorFilter, { sort, ...bounds }: MonitorPage) => {
    const [rows, total] = await Promise.all([
      listMonitors(db, projectId, filter, bounds, sort),
      count(projectId, filter),
    ])
    return { rows, total }
  }

  listRoute(app, '/monitors', {
    summary: 'List monitors',
    description: 'Newest first, unless `sort` is given.',
    tags,
    querystring: MonitorQuery,
    record: MonitorRecord,
    list: async (request, bounds) => {
      const caller = getCaller(request)
      const { projectId } = caller
      const { sort, issue } = request.query
      const fields = parseMonitorFilter(request.query)
      const page = { ...bounds, sort }
      const { rows, total } =
        issue === true
          ? await listMonitorsWithIssues(db, projectId, fields, page, readMonitoringState)
          : await listAll(projectId, issue === false ? await excludeIssues(projectId, fields) : fields, page)
      const state = await readMonitoringState(projectId, rows)
      return { data: rows.map(row => toMonitorResponse(row, context, state, caller)), total }
    },
  })

  readRoute(app, '/monitors/:id', {
    version: MONITOR_VERSION,
    summary: 'Get a monitor',
    tags,
    record: MonitorRecord,
    read: async request => {
      const caller = getCaller(request)
      const monitor = await getMonitor(db, caller.projectId, request.params.id)
      return toMonitorResponse(monitor, context, await readMonitoringState(caller.projectId, [monitor]), caller)
    },
  })

  readRoute(app, '/monitors/:id/guarantee', {
    summary: 'Get the guarantee of a monitor',
    description: 'The longest time until an outage is noticed, computed from the settings of the monitor.',
    tags,
    record: GuaranteeRecord,
    read: async request => {
      const { projectId } = getCaller(request)
      const monitor = await getMonitor(db, projectId, request.params.id)
      const { liveTypes } = await readMonitoringState(projectId, [])
      return toGuaranteeResponse(monitor, liveTypes)
    },
  })
}

async function getMonitor(db: Db, projectId: string, id: string): Promise<StoredMonitor> {
  return found(isId(id) && (await findMonitor(db, projectId, id)), 'monitor')
}

/** A monitor that was just created or changed, with its guarantee. */
const toChangedResponse = (
  monitor: StoredMonitor,
  tools: MonitorResponseTools,
  state: MonitoringState,
  caller: ApiCaller,
) => ({
  ...toMonitorResponse(monitor, tools, state, caller),
  guarantee: toGuaranteeResponse(monitor, state.liveTypes),
})

function createRoutes(app: App, context: MonitorContext): void {
  const { heavyWrites, readMonitoringState } = context
  createRoute(app, '/monitors', {
    version: MONITOR_VERSION,
    summary: 'Create a monitor',
    description: 'The first check starts immediately.',
    tags,
    body: MonitorCreate,
    record: MonitorWithGuarantee,
    errors: [400, 402],
    create: async request => {
      const caller = getCaller(request)
      const monitor = await createMonitor(withActor(context, request), caller, request.body, now())
      const state = await readMonitoringState(caller.projectId, [])
      return toChangedResponse(monitor, context, state, caller)
    },
  })

  const compile = app.validatorCompiler as unknown as CompileSchema
  const checkItem = compile({ schema: MonitorCreate })
  app.post(
    '/monitors/bulk',
    {
      config: { isHeavy: true },
      onRequest: heavyWrites.assertCapacity,
      validatorCompiler: () => compile({ schema: MonitorList }),
      schema: {
        summary: 'Create up to 50 monitors',
        description: 'Failures are reported by index; the other monitors are created.',
        tags,
        body: MonitorBulk,
        response: responseSchemas(201, BulkResponse, 400),
      },
    },
    async (request, reply) => {
      const { monitors: bodies } = request.body
      const faults = findItemProblems(bodies, checkItem)
      const items = bodies.map((body, index) => ({ body, faults: faults[index]! }))
      const caller = getCaller(request)
      const { created, errors } = await heavyWrites.run(caller.projectId, async () => {
        // the turn may have come after 20 s
        await assertStillHasAccess(context.db, caller, 'write')
        return createMonitors(withActor(context, request), caller, items, now())
      })
      const state = await readMonitoringState(caller.projectId, [])
      const monitors = created.map(monitor => toMonitorResponse(monitor, context, state, caller))
      return reply.code(201).send({ monitors, errors })
    },
  )
}

function updateRoutes(app: App, context: MonitorContext): void {
  const { readMonitoringState } = context
  updateRoute(app, '/monitors/:id', {
    version: MONITOR_VERSION,
    summary: 'Update a monitor',
    description: 'Fields that the body does not name keep their values.',
    tags,
    body: MonitorUpdate,
    record: MonitorWithGuarantee,
    errors: [400, 403, 404, 409],
    update: async request => {
      const caller = getCaller(request)
      const monitor = await changeMonitor(withActor(context, request), caller, request.params.id, request.body, now())
      return toChangedResponse(monitor, context, await readMonitoringState(caller.projectId, [monitor]), caller)
    },
  })

  updateRoute(app, '/monitors/:id/auth', {
    version: MONITOR_VERSION,
    summary: 'Replace the credentials of a monitor',
    description: 'Every check sends these credentials. Nulls delete them.',
    tags,
    body: AuthUpdate,
    record: MonitorRecord,
    errors: [400, 404, 409],
    update: async request => {
      const caller = getCaller(request)
      const { projectId } = caller
      const monitor = await changeAuth(withActor(context, request), projectId, request.params.id, request.body, now())
      return toMonitorResponse(monitor, context, await readMonitoringState(projectId, [monitor]), caller)
    },
  })
}
