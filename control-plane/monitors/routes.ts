import { Type } from 'typebox'
import { now } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import { toolsActingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { type Caller, callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { severalOf } from '../web/filters.ts'
import type { HeavyWrites } from '../web/heavy-writes.ts'
import { metaOf, pageOf } from '../web/pages.ts'
import { answers, dataOf, IdParams, pageOf as pageSchema } from '../web/schemas.ts'
import type { Compile } from '../web/validation.ts'
import { changeAuth, changeMonitor, createMonitor, createMonitors, type MonitorTools } from './actions.ts'
import { faultsOfItems } from './bulk-faults.ts'
import { createMonitorCount } from './count-reader.ts'
import { GuaranteeRecord, MonitorWithGuarantee, presentGuarantee } from './guarantee-record.ts'
import { type PresentTools, presentMonitor, type ReadWatching, type Watching } from './present.ts'
import { MonitorRecord } from './record.ts'
import { AuthUpdate, MonitorBulk, MonitorCreate, MonitorList, MonitorQuery, MonitorUpdate } from './schema.ts'
import { findMonitor, listMonitors } from './store.ts'
import { MONITOR_STATUSES, type StoredMonitor } from './types.ts'

export type MonitorContext = MonitorTools &
  PresentTools & {
    watching: ReadWatching
    heavyWrites: HeavyWrites
  }

const BulkAnswer = Type.Object({
  monitors: Type.Array(MonitorRecord),
  errors: Type.Array(Type.Object({ index: Type.Integer(), error: Type.String() })),
})
const tags = ['Monitors']

/** Monitors as a resource (specification, "Monitors"; decisions 3.1 to 3.5). */
export function monitorRoutes(app: App, context: MonitorContext): void {
  readRoutes(app, context)
  createRoutes(app, context)
  updateRoutes(app, context)
}

function readRoutes(app: App, context: MonitorContext): void {
  const { db, watching } = context
  const count = createMonitorCount(db)

  app.get(
    '/monitors',
    {
      schema: {
        summary: 'List monitors, newest first',
        tags,
        querystring: MonitorQuery,
        response: answers(200, pageSchema(MonitorRecord), 400),
      },
    },
    async request => {
      const caller = callerOf(request)
      const { projectId } = caller
      const { type = null, status, tag = null, q: text = null } = request.query
      const filter = { type, statuses: severalOf('status', status, MONITOR_STATUSES), tag, text }
      const [rows, total] = await Promise.all([
        listMonitors(db, projectId, filter, pageOf(request.query)),
        count(projectId, filter),
      ])
      const watched = await watching(projectId, rows)
      return {
        data: rows.map(row => presentMonitor(row, context, watched, caller)),
        meta: metaOf(request.query, total),
      }
    },
  )

  app.get(
    '/monitors/:id',
    { schema: { summary: 'One monitor', tags, params: IdParams, response: answers(200, dataOf(MonitorRecord), 404) } },
    async request => {
      const { projectId } = callerOf(request)
      const { id } = request.params
      const monitor = isId(id) ? await findMonitor(db, projectId, id) : null
      if (!monitor) throw notFound('monitor')
      return { data: presentMonitor(monitor, context, await watching(projectId, [monitor]), callerOf(request)) }
    },
  )

  app.get(
    '/monitors/:id/guarantee',
    {
      schema: {
        summary: 'How soon an outage of a monitor is noticed at the latest',
        tags,
        params: IdParams,
        response: answers(200, dataOf(GuaranteeRecord), 404),
      },
    },
    async request => {
      const { projectId } = callerOf(request)
      const { id } = request.params
      const monitor = isId(id) ? await findMonitor(db, projectId, id) : null
      if (!monitor) throw notFound('monitor')
      const { liveTypes } = await watching(projectId, [])
      return { data: presentGuarantee(monitor, liveTypes) }
    },
  )
}

/** A monitor that was just created or changed, with what its settings guarantee. */
const presentChanged = (monitor: StoredMonitor, tools: PresentTools, watched: Watching, caller: Caller) => ({
  ...presentMonitor(monitor, tools, watched, caller),
  guarantee: presentGuarantee(monitor, watched.liveTypes),
})

function createRoutes(app: App, context: MonitorContext): void {
  const { heavyWrites, watching } = context
  app.post(
    '/monitors',
    {
      schema: {
        summary: 'Create a monitor; its first check starts at once',
        tags,
        body: MonitorCreate,
        response: answers(201, dataOf(MonitorWithGuarantee), 400, 402),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const monitor = await createMonitor(toolsActingAs(context, request), caller, request.body, now())
      const watched = await watching(caller.projectId, [])
      return reply.code(201).send({ data: presentChanged(monitor, context, watched, caller) })
    },
  )

  const compile = app.validatorCompiler as unknown as Compile
  const checkItem = compile({ schema: MonitorCreate })
  app.post(
    '/monitors/bulk',
    {
      config: { isHeavy: true },
      onRequest: heavyWrites.assertRoom,
      validatorCompiler: () => compile({ schema: MonitorList }),
      schema: {
        summary: 'Create up to 50 monitors; what cannot be created is told by its place',
        tags,
        body: MonitorBulk,
        response: answers(201, BulkAnswer, 400),
      },
    },
    async (request, reply) => {
      const { monitors: bodies } = request.body
      const faults = faultsOfItems(bodies, checkItem)
      const items = bodies.map((body, index) => ({ body, faults: faults[index]! }))
      const caller = callerOf(request)
      const { created, errors } = await heavyWrites.run(caller.projectId, () =>
        createMonitors(toolsActingAs(context, request), caller, items, now()),
      )
      const watched = await watching(caller.projectId, [])
      const monitors = created.map(monitor => presentMonitor(monitor, context, watched, caller))
      return reply.code(201).send({ monitors, errors })
    },
  )
}

function updateRoutes(app: App, context: MonitorContext): void {
  const { watching } = context
  const answer = async (caller: Caller, monitor: StoredMonitor) => ({
    data: presentMonitor(monitor, context, await watching(caller.projectId, [monitor]), caller),
  })

  app.put(
    '/monitors/:id',
    {
      schema: {
        summary: 'Change a monitor: fields that are not named stay',
        tags,
        params: IdParams,
        body: MonitorUpdate,
        response: answers(200, dataOf(MonitorWithGuarantee), 400, 403, 404, 409),
      },
    },
    async request => {
      const caller = callerOf(request)
      const monitor = await changeMonitor(
        toolsActingAs(context, request),
        caller,
        request.params.id,
        request.body,
        now(),
      )
      return { data: presentChanged(monitor, context, await watching(caller.projectId, [monitor]), caller) }
    },
  )

  app.put(
    '/monitors/:id/auth',
    {
      schema: {
        summary: 'Replace the credentials that a check sends; nulls clear them',
        tags,
        params: IdParams,
        body: AuthUpdate,
        response: answers(200, dataOf(MonitorRecord), 400, 404, 409),
      },
    },
    async request => {
      const caller = callerOf(request)
      const monitor = await changeAuth(
        toolsActingAs(context, request),
        caller.projectId,
        request.params.id,
        request.body,
        now(),
      )
      return await answer(caller, monitor)
    },
  )
}
