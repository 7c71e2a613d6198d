import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import { createRoute, deleteRoute, listRoute, readRoute, updateRoute } from '../../../foundation/web/resource-routes.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { found } from '../../../foundation/web/server/errors.ts'
import { findGroup, GROUP_VERSION, listGroups } from '../../core/group-store.ts'
import { getPageId } from '../page-lock-actions.ts'
import { toGroupResponse } from '../responses.ts'
import { GroupCreate, GroupRecord, GroupUpdate } from '../schema.ts'
import { changeGroup, createGroup, deleteGroup } from './group-actions.ts'

const tags = ['Status pages']

/** Groups of components, which visitors can collapse (docs/design/status-pages.md#components). */
export function groupRoutes(app: App, { db }: { db: Db }): void {
  readRoutes(app, db)
  writeRoutes(app, db)
}

function readRoutes(app: App, db: Db): void {
  listRoute(app, '/status-pages/:id/groups', {
    summary: 'List the groups of a status page in display order',
    tags,
    record: GroupRecord,
    list: async (request, bounds) => {
      const pageId = await getPageId(db, getCaller(request).projectId, request.params.id)
      const { groups, total } = await listGroups(db, pageId, bounds)
      return { data: groups.map(toGroupResponse), total }
    },
  })

  readRoute(app, '/status-pages/:id/groups/:gid', {
    version: GROUP_VERSION,
    summary: 'Get a group',
    tags,
    record: GroupRecord,
    read: async request => {
      const { id, gid } = request.params
      const pageId = await getPageId(db, getCaller(request).projectId, id)
      return toGroupResponse(found(isId(gid) && (await findGroup(db, pageId, gid)), 'group'))
    },
  })
}

function writeRoutes(app: App, db: Db): void {
  createRoute(app, '/status-pages/:id/groups', {
    version: GROUP_VERSION,
    summary: 'Create a group',
    tags,
    body: GroupCreate,
    record: GroupRecord,
    errors: [400, 404, 409],
    create: async request => {
      const { projectId } = getCaller(request)
      const { id } = request.params
      return toGroupResponse(await createGroup(withRequestActor(db, request), projectId, id, request.body, now()))
    },
  })

  updateRoute(app, '/status-pages/:id/groups/:gid', {
    version: GROUP_VERSION,
    summary: 'Update a group',
    description: 'Omitted fields keep their values.',
    tags,
    body: GroupUpdate,
    record: GroupRecord,
    update: async request => {
      const { id, gid } = request.params
      const { projectId } = getCaller(request)
      return toGroupResponse(await changeGroup(withRequestActor(db, request), projectId, id, gid, request.body, now()))
    },
  })

  deleteRoute(app, '/status-pages/:id/groups/:gid', {
    version: GROUP_VERSION,
    summary: 'Delete a group',
    description: 'The components of the group stay on the page.',
    tags,
    remove: request => {
      const { id, gid } = request.params
      return deleteGroup(withRequestActor(db, request), getCaller(request).projectId, id, gid, now())
    },
  })
}
