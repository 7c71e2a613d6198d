import { overridesOfDependencies } from '../alerts/override-store.ts'
import { now } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import { actingAs, toolsActingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { metaOf, pageOf } from '../web/pages.ts'
import { answers, DeletedResponse, dataOf, IdParams, PageQuery, pageOf as pageSchema } from '../web/schemas.ts'
import { changeDependency, createDependency, type VendorTools } from './actions.ts'
import { searchCatalog } from './catalog.ts'
import { listIncidentsOf } from './incident-store.ts'
import { presentDependency, presentEntry, presentIncident, type ShownDependency } from './present.ts'
import {
  CatalogQuery,
  CatalogRecord,
  DependencyCreate,
  DependencyRecord,
  DependencyUpdate,
  VendorIncidentRecord,
} from './schema.ts'
import { deleteDependency, findDependency, listDependencies } from './store.ts'

const tags = ['Dependencies']

/** Third parties that a project depends on, and what they report (decisions 10.1). */
export function dependencyRoutes(app: App, tools: VendorTools): void {
  catalogRoutes(app)
  readRoutes(app, tools.db)
  writeRoutes(app, tools)
}

function catalogRoutes(app: App): void {
  app.get(
    '/dependencies/catalog',
    {
      schema: {
        summary: 'Well-known vendors that can be tracked by their slug, by name',
        tags,
        querystring: CatalogQuery,
        response: answers(200, pageSchema(CatalogRecord), 400),
      },
    },
    async request => {
      const entries = searchCatalog(request.query)
      const { limit, offset } = pageOf(request.query)
      const data = entries.slice(offset, offset + limit).map(presentEntry)
      return { data, meta: metaOf(request.query, entries.length) }
    },
  )
}

function readRoutes(app: App, db: Db): void {
  app.get(
    '/dependencies',
    {
      schema: {
        summary: 'List dependencies, newest first',
        tags,
        querystring: PageQuery,
        response: answers(200, pageSchema(DependencyRecord), 400),
      },
    },
    async request => {
      const { rows, total } = await listDependencies(db, callerOf(request).projectId, pageOf(request.query))
      return { data: await shown(db, rows), meta: metaOf(request.query, total) }
    },
  )

  app.get(
    '/dependencies/:id',
    {
      schema: {
        summary: 'One dependency',
        tags,
        params: IdParams,
        response: answers(200, dataOf(DependencyRecord), 404),
      },
    },
    async request => ({ data: await read(db, callerOf(request).projectId, request.params.id) }),
  )

  app.get(
    '/dependencies/:id/incidents',
    {
      schema: {
        summary: 'Incidents that the vendor reported, newest first',
        tags,
        params: IdParams,
        querystring: PageQuery,
        response: answers(200, pageSchema(VendorIncidentRecord), 400, 404),
      },
    },
    async request => {
      const { id } = await read(db, callerOf(request).projectId, request.params.id)
      const { rows, total } = await listIncidentsOf(db, id, pageOf(request.query))
      return { data: rows.map(presentIncident), meta: metaOf(request.query, total) }
    },
  )
}

function writeRoutes(app: App, tools: VendorTools): void {
  app.post(
    '/dependencies',
    {
      schema: {
        summary: 'Track a vendor: by its slug of the catalogue, or by the address of its status page',
        tags,
        body: DependencyCreate,
        response: answers(201, dataOf(DependencyRecord), 400, 404, 409),
      },
    },
    async (request, reply) => {
      const { projectId } = callerOf(request)
      const id = await createDependency(toolsActingAs(tools, request), projectId, request.body, now())
      return reply.code(201).send({ data: await read(tools.db, projectId, id) })
    },
  )

  app.put(
    '/dependencies/:id',
    {
      schema: {
        summary: 'Change a dependency: fields that are not named stay',
        tags,
        params: IdParams,
        body: DependencyUpdate,
        response: answers(200, dataOf(DependencyRecord), 400, 404, 409),
      },
    },
    async request => {
      const { projectId } = callerOf(request)
      const { id } = request.params
      await changeDependency(toolsActingAs(tools, request), projectId, id, request.body, now())
      return { data: await read(tools.db, projectId, id) }
    },
  )

  app.delete(
    '/dependencies/:id',
    {
      schema: {
        summary: 'Stop tracking a vendor; its incidents go too, and nobody is told',
        tags,
        params: IdParams,
        response: answers(200, DeletedResponse, 404),
      },
    },
    async request => {
      const { id } = request.params
      const isDeleted =
        isId(id) && (await deleteDependency(actingAs(tools.db, request), callerOf(request).projectId, id))
      if (!isDeleted) throw notFound('dependency')
      return { data: { id, deleted: true as const } }
    },
  )
}

async function read(db: Db, projectId: string, id: string) {
  const dependency = isId(id) ? await findDependency(db, projectId, id) : null
  if (!dependency) throw notFound('dependency')
  return (await shown(db, [dependency]))[0]!
}

async function shown(db: Db, dependencies: ShownDependency[]) {
  const overrides = await overridesOfDependencies(
    db,
    dependencies.map(({ id }) => id),
  )
  return dependencies.map(dependency => presentDependency(dependency, overrides))
}
