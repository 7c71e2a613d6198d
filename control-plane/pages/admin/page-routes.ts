import { isId } from '../../foundation/platform/ids.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { withActor, withRequestActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import { createRoute, deleteRoute, listRoute, readRoute, updateRoute } from '../../foundation/web/resource-routes.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { found } from '../../foundation/web/server/errors.ts'
import { findPage, listPages, PAGE_VERSION, removePage } from '../core/page-store.ts'
import { changePage, createPage, type PageTools } from './page-actions.ts'
import { toPageResponse } from './responses.ts'
import { PageCreate, PageRecord, PageUpdate } from './schema.ts'

const tags = ['Status pages']

/** Status pages as a resource (docs/design/status-pages.md#data). */
export function statusPageRoutes(app: App, tools: PageTools): void {
  readRoutes(app, tools)
  writeRoutes(app, tools)
}

function readRoutes(app: App, { db, publicUrl }: { db: Db; publicUrl: string }): void {
  listRoute(app, '/status-pages', {
    summary: 'List status pages, newest first',
    tags,
    record: PageRecord,
    list: async (request, bounds) => {
      const { pages, total } = await listPages(db, getCaller(request).projectId, bounds)
      return { data: pages.map(page => toPageResponse(page, publicUrl)), total }
    },
  })

  readRoute(app, '/status-pages/:id', {
    version: PAGE_VERSION,
    summary: 'Get a status page',
    tags,
    record: PageRecord,
    read: async request => {
      const { id } = request.params
      const page = found(isId(id) && (await findPage(db, getCaller(request).projectId, id)), 'status page')
      return toPageResponse(page, publicUrl)
    },
  })
}

function writeRoutes(app: App, tools: PageTools): void {
  const { db, publicUrl } = tools
  createRoute(app, '/status-pages', {
    version: PAGE_VERSION,
    summary: 'Create a status page',
    description: 'With all its components, or not at all. The new page is unpublished unless `is_published` is true.',
    tags,
    body: PageCreate,
    record: PageRecord,
    errors: [400, 402, 404, 409],
    create: async request => {
      const page = await createPage(withActor(tools, request), getCaller(request), request.body, now())
      return toPageResponse(page, publicUrl)
    },
  })

  updateRoute(app, '/status-pages/:id', {
    version: PAGE_VERSION,
    summary: 'Update a status page',
    description: 'Omitted fields keep their values.',
    tags,
    body: PageUpdate,
    record: PageRecord,
    update: async request => {
      const { projectId } = getCaller(request)
      const page = await changePage(withActor(tools, request), projectId, request.params.id, request.body, now())
      return toPageResponse(page, publicUrl)
    },
  })

  deleteRoute(app, '/status-pages/:id', {
    version: PAGE_VERSION,
    summary: 'Delete a status page',
    description: 'Also deletes its components, groups, images and subscribers.',
    tags,
    remove: async request => {
      const { id } = request.params
      const { projectId } = getCaller(request)
      return found(isId(id) && (await removePage(withRequestActor(db, request), projectId, id)), 'status page')
    },
  })
}
