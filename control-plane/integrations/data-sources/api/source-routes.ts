import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Egress } from '../../../../shared/egress/types.ts'
import type { InstallationLimits } from '../../../accounts/plans/plans.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import {
  createRoute,
  deleteRoute,
  fullListRoute,
  readRoute,
  updateRoute,
} from '../../../foundation/web/resource-routes.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { Id } from '../../../foundation/web/validation/schemas.ts'
import { changeSource, createSource, deleteSource } from '../configuration/source-actions.ts'
import { listSources, SOURCE_VERSION } from '../configuration/source-store.ts'
import { SourceCreate, SourceUpdate } from './request-schema.ts'
import { getSourceResponse, loadSourceResponses, type SourceReadContext } from './response-reader.ts'
import { SourceRecord } from './response-schema.ts'

type SourceRouteContext = SourceReadContext & { egress: Egress; publicUrl: string; limits?: InstallationLimits }

const tags = ['Data sources']
const IdRecord = Type.Object({ id: Id })

/** Routes of data sources as a resource (docs/design/data-sources.md#api). */
export function sourceRoutes(app: App, context: SourceRouteContext): void {
  readRoutes(app, context)
  writeRoutes(app, context)
}

function readRoutes(app: App, context: SourceRouteContext): void {
  const { db } = context
  fullListRoute(app, '/data-sources', {
    summary: 'List data sources',
    description: 'With their fields, newest first. Returns all data sources unless `page` or `per_page` is given.',
    tags,
    record: SourceRecord,
    list: async (request, bounds) => {
      const { sources, total } = await listSources(db, getCaller(request).projectId, bounds)
      return { data: await loadSourceResponses(context, sources), total }
    },
  })

  readRoute(app, '/data-sources/:id', {
    version: SOURCE_VERSION,
    summary: 'Get a data source',
    tags,
    record: SourceRecord,
    read: request => getSourceResponse(context, getCaller(request).projectId, request.params.id),
  })
}

function writeRoutes(app: App, context: SourceRouteContext): void {
  const toolsFor = (request: FastifyRequest) => ({
    ...context,
    db: withRequestActor(context.db, request),
    checkLiteral: context.egress.checkLiteral,
  })

  createRoute(app, '/data-sources', {
    version: SOURCE_VERSION,
    summary: 'Create a data source',
    description: 'The document is fetched immediately.',
    tags,
    body: SourceCreate,
    record: IdRecord,
    errors: [400, 402],
    create: async request => ({
      id: await createSource(toolsFor(request), getCaller(request), request.body, now()),
    }),
  })

  updateRoute(app, '/data-sources/:id', {
    version: SOURCE_VERSION,
    summary: 'Update a data source',
    description:
      'Omitted properties keep their values. `fields`, when given, replaces all fields; they are matched by id.',
    tags,
    body: SourceUpdate,
    record: IdRecord,
    update: async request => ({
      id: await changeSource(toolsFor(request), getCaller(request), request.params.id, request.body, now()),
    }),
  })

  deleteRoute(app, '/data-sources/:id', {
    version: SOURCE_VERSION,
    summary: 'Delete a data source and its monitors',
    tags,
    remove: request => deleteSource(toolsFor(request), getCaller(request).projectId, request.params.id, now()),
  })
}
