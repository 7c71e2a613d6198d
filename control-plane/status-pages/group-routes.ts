import { Type } from 'typebox'
import { now } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import { actingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { metaOf, pageOf } from '../web/pages.ts'
import { answers, DeletedResponse, dataOf, IdParams, PageQuery, pageOf as pageSchema } from '../web/schemas.ts'
import { changeGroup, createGroup, deleteGroup } from './group-actions.ts'
import { findGroup, listGroups } from './group-store.ts'
import { pageIdOf } from './hold-actions.ts'
import { presentGroup } from './present.ts'
import { GroupCreate, GroupRecord, GroupUpdate } from './schema.ts'

const tags = ['Status pages']
const params = Type.Object({ id: Type.String(), gid: Type.String() })

/** Groups of components, which visitors can fold (specification, "Status page component group"). */
export function groupRoutes(app: App, { db }: { db: Db }): void {
  readRoutes(app, db)
  writeRoutes(app, db)
}

function readRoutes(app: App, db: Db): void {
  app.get(
    '/status-pages/:id/groups',
    {
      schema: {
        summary: 'List the groups of a status page, in their order',
        tags,
        params: IdParams,
        querystring: PageQuery,
        response: answers(200, pageSchema(GroupRecord), 400, 404),
      },
    },
    async request => {
      const pageId = await pageIdOf(db, callerOf(request).projectId, request.params.id)
      const { groups, total } = await listGroups(db, pageId, pageOf(request.query))
      return { data: groups.map(presentGroup), meta: metaOf(request.query, total) }
    },
  )

  app.get(
    '/status-pages/:id/groups/:gid',
    { schema: { summary: 'One group', tags, params, response: answers(200, dataOf(GroupRecord), 404) } },
    async request => {
      const { id, gid } = request.params
      const pageId = await pageIdOf(db, callerOf(request).projectId, id)
      const group = isId(gid) ? await findGroup(db, pageId, gid) : null
      if (!group) throw notFound('group')
      return { data: presentGroup(group) }
    },
  )
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
        response: answers(201, dataOf(GroupRecord), 400, 404, 409),
      },
    },
    async (request, reply) => {
      const group = await createGroup(
        actingAs(db, request),
        callerOf(request).projectId,
        request.params.id,
        request.body,
        now(),
      )
      return reply.code(201).send({ data: presentGroup(group) })
    },
  )

  app.put(
    '/status-pages/:id/groups/:gid',
    {
      schema: {
        summary: 'Change a group: fields that are not named stay',
        tags,
        params,
        body: GroupUpdate,
        response: answers(200, dataOf(GroupRecord), 400, 404),
      },
    },
    async request => {
      const { id, gid } = request.params
      return {
        data: presentGroup(
          await changeGroup(actingAs(db, request), callerOf(request).projectId, id, gid, request.body, now()),
        ),
      }
    },
  )

  app.delete(
    '/status-pages/:id/groups/:gid',
    {
      schema: {
        summary: 'Delete a group; its components stay on the page',
        tags,
        params,
        response: answers(200, DeletedResponse, 404),
      },
    },
    async request => {
      const { id, gid } = request.params
      await deleteGroup(actingAs(db, request), callerOf(request).projectId, id, gid, now())
      return { data: { id: gid, deleted: true as const } }
    },
  )
}
