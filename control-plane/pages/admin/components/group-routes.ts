import { Type } from 'typebox'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import { deleteRoute, listRoute, readRoute } from '../../../foundation/web/resource-routes.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { found } from '../../../foundation/web/server/errors.ts'
import { dataSchema, IdParams, responseSchemas } from '../../../foundation/web/validation/schemas.ts'
import { findGroup, listGroups } from '../../core/group-store.ts'
import { getPageId } from '../page-lock-actions.ts'
import { toGroupResponse } from '../responses.ts'
import { GroupCreate, GroupRecord, GroupUpdate } from '../schema.ts'
import { changeGroup, createGroup, deleteGroup } from './group-actions.ts'

const tags = ['Status pages']
const params = Type.Object({ id: Type.String(), gid: Type.String() })

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
  app.post(
    '/status-pages/:id/groups',
    {
      schema: {
        summary: 'Create a group',
        tags,
        params: IdParams,
        body: GroupCreate,
        response: responseSchemas(201, dataSchema(GroupRecord), 400, 404, 409),
      },
    },
    async (request, reply) => {
      const group = await createGroup(
        withRequestActor(db, request),
        getCaller(request).projectId,
        request.params.id,
        request.body,
        now(),
      )
      return reply.code(201).send({ data: toGroupResponse(group) })
    },
  )

  app.put(
    '/status-pages/:id/groups/:gid',
    {
      schema: {
        summary: 'Update a group',
        description: 'Omitted fields keep their values.',
        tags,
        params,
        body: GroupUpdate,
        response: responseSchemas(200, dataSchema(GroupRecord), 400, 404),
      },
    },
    async request => {
      const { id, gid } = request.params
      return {
        data: toGroupResponse(
          await changeGroup(withRequestActor(db, request), getCaller(request).projectId, id, gid, request.body, now()),
        ),
      }
    },
  )

  deleteRoute(app, '/status-pages/:id/groups/:gid', {
    summary: 'Delete a group',
    description: 'The components of the group stay on the page.',
    tags,
    remove: request => {
      const { id, gid } = request.params
      return deleteGroup(withRequestActor(db, request), getCaller(request).projectId, id, gid, now())
    },
  })
}
