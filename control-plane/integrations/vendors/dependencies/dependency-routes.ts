import type { Egress } from '../../../../shared/egress/types.ts'
import { listOverrides } from '../../../alerting/routing/rules/dependency-override-store.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now, nowMs } from '../../../foundation/platform/time/clock.ts'
import { withActor, withRequestActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import { createRoute, deleteRoute, listRoute, readRoute, updateRoute } from '../../../foundation/web/resource-routes.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { found, rateLimited } from '../../../foundation/web/server/errors.ts'
import { createTestLimit, MAX_CONCURRENT_TESTS } from '../../../foundation/web/test-limit.ts'
import { slicePage } from '../../../foundation/web/validation/pagination.ts'
import { dataSchema, responseSchemas } from '../../../foundation/web/validation/schemas.ts'
import { listVendorIncidents } from '../incidents/incident-store.ts'
import { searchCatalog } from './catalog.ts'
import { changeDependency, createDependency, type VendorTools } from './dependency-actions.ts'
import {
  DEPENDENCY_VERSION,
  deleteDependency,
  findDependency,
  listDependencies,
  mapDependencySlugs,
} from './dependency-store.ts'
import { testFeed } from './feed-test-actions.ts'
import {
  type DependencyWithFeed,
  toCatalogEntryResponse,
  toDependencyResponse,
  toVendorIncidentResponse,
} from './response.ts'
import {
  CatalogQuery,
  CatalogRecord,
  DependencyCreate,
  DependencyRecord,
  DependencyUpdate,
  FeedTest,
  FeedTestRecord,
  VendorIncidentRecord,
} from './schema.ts'

const tags = ['Dependencies']

type DependencyRouteContext = VendorTools & { egress: Egress; testsPerMinute: number }

/** Routes of dependencies and their incidents (docs/design/vendors.md). */
export function dependencyRoutes(app: App, { egress, testsPerMinute, ...tools }: DependencyRouteContext): void {
  catalogRoutes(app, tools.db)
  testRoute(app, egress, testsPerMinute)
  readRoutes(app, tools.db)
  writeRoutes(app, tools)
}

function catalogRoutes(app: App, db: Db): void {
  listRoute(app, '/dependencies/catalog', {
    summary: 'List the vendors of the catalog',
    description: 'Sorted by name. A vendor of the catalog can be tracked by its slug.',
    tags,
    querystring: CatalogQuery,
    record: CatalogRecord,
    list: async (request, bounds) => {
      const { data, total } = slicePage(searchCatalog(request.query), bounds)
      const slugs = data.map(({ slug }) => slug)
      const tracked = await mapDependencySlugs(db, getCaller(request).projectId, slugs)
      return { data: data.map(entry => toCatalogEntryResponse(entry, tracked.get(entry.slug) ?? null)), total }
    },
  })
}

function testRoute(app: App, egress: Egress, testsPerMinute: number): void {
  const takeTurn = createTestLimit(testsPerMinute, 'tests of feeds')
  app.post(
    '/dependencies/test',
    {
      config: { isPatient: true },
      schema: {
        summary: 'Test a feed before it is tracked',
        description: `Reads the feed once, as a dependency with this body would, and returns what it reports. Stores nothing. Limited to ${testsPerMinute} requests per minute and ${MAX_CONCURRENT_TESTS} concurrent requests per project; more are refused with 429.`,
        tags,
        body: FeedTest,
        response: responseSchemas(200, dataSchema(FeedTestRecord), 400, 404),
      },
    },
    async request => {
      const { projectId } = getCaller(request)
      const turn = takeTurn(projectId, nowMs())
      if ('message' in turn) throw rateLimited(turn.message, turn.retryAfterSeconds)
      return { data: await testFeed(egress, projectId, request.body).finally(turn.end) }
    },
  )
}

function readRoutes(app: App, db: Db): void {
  listRoute(app, '/dependencies', {
    summary: 'List dependencies',
    description: 'Newest first.',
    tags,
    record: DependencyRecord,
    list: async (request, bounds) => {
      const { rows, total } = await listDependencies(db, getCaller(request).projectId, bounds)
      return { data: await loadResponses(db, rows), total }
    },
  })

  readRoute(app, '/dependencies/:id', {
    version: DEPENDENCY_VERSION,
    summary: 'Get a dependency',
    tags,
    record: DependencyRecord,
    read: request => readDependency(db, getCaller(request).projectId, request.params.id),
  })

  listRoute(app, '/dependencies/:id/incidents', {
    summary: 'List the incidents of a dependency',
    description: 'Incidents that the vendor reported, newest first.',
    tags,
    record: VendorIncidentRecord,
    list: async (request, bounds) => {
      const { id } = await readDependency(db, getCaller(request).projectId, request.params.id)
      const { rows, total } = await listVendorIncidents(db, id, bounds)
      return { data: rows.map(toVendorIncidentResponse), total }
    },
  })
}

function writeRoutes(app: App, tools: VendorTools): void {
  createRoute(app, '/dependencies', {
    version: DEPENDENCY_VERSION,
    summary: 'Create a dependency',
    description: 'Tracks a vendor by its slug in the catalog, or by the address of its status page.',
    tags,
    body: DependencyCreate,
    record: DependencyRecord,
    errors: [400, 404, 409],
    create: async request => {
      const { projectId } = getCaller(request)
      const id = await createDependency(withActor(tools, request), projectId, request.body, now())
      return readDependency(tools.db, projectId, id)
    },
  })

  updateRoute(app, '/dependencies/:id', {
    version: { ...DEPENDENCY_VERSION, isCheckedByAction: true },
    summary: 'Update a dependency',
    description: 'Omitted fields keep their values.',
    tags,
    body: DependencyUpdate,
    record: DependencyRecord,
    errors: [400, 404, 409],
    update: async request => {
      const { projectId } = getCaller(request)
      const { id } = request.params
      await changeDependency(withActor(tools, request), projectId, id, request.body, now())
      return readDependency(tools.db, projectId, id)
    },
  })

  deleteRoute(app, '/dependencies/:id', {
    version: DEPENDENCY_VERSION,
    summary: 'Delete a dependency',
    description: 'Deletes its incidents as well. No event is sent.',
    tags,
    remove: async request => {
      const { id } = request.params
      const { projectId } = getCaller(request)
      return found(
        isId(id) && (await deleteDependency(withRequestActor(tools.db, request), projectId, id)),
        'dependency',
      )
    },
  })
}

async function readDependency(db: Db, projectId: string, id: string) {
  const dependency = found(isId(id) && (await findDependency(db, projectId, id)), 'dependency')
  return (await loadResponses(db, [dependency]))[0]!
}

async function loadResponses(db: Db, dependencies: DependencyWithFeed[]) {
  const overrides = await listOverrides(
    db,
    dependencies.map(({ id }) => id),
  )
  return dependencies.map(dependency => toDependencyResponse(dependency, overrides))
}
