import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import { createRoute, deleteRoute, listRoute } from '../../../foundation/web/resource-routes.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { createWallLink, deleteWallLink } from './actions.ts'
import { CreatedWallLink, WallLinkCreate, WallLinkRecord } from './schemas.ts'
import { listWallLinks, type StoredWallLink } from './store.ts'

const tags = ['Wallboards']

/** The routes of `/wall-links` (docs/design/wallboard.md). */
export function wallLinkRoutes(app: App, { db, publicUrl }: { db: Db; publicUrl: string }): void {
  listRoute(app, '/wall-links', {
    summary: 'List wall links',
    description: 'Newest first, without their tokens.',
    tags,
    record: WallLinkRecord,
    list: async (request, bounds) => {
      const { links, total } = await listWallLinks(db, getCaller(request).projectId, bounds)
      return { data: links.map(toWallLinkResponse), total }
    },
  })

  createRoute(app, '/wall-links', {
    summary: 'Create a wall link',
    description:
      'An address that shows the monitors of a query without a session: their number by tag, and name, cause and duration of those that fail. A project can have 20.',
    tags,
    body: WallLinkCreate,
    record: CreatedWallLink,
    errors: [400, 409],
    create: async request => {
      const { link, token } = await createWallLink(
        withRequestActor(db, request),
        getCaller(request),
        request.body,
        now(),
      )
      return { ...toWallLinkResponse(link), url: `${publicUrl}/wall/${token}` }
    },
  })

  deleteRoute(app, '/wall-links/:id', {
    summary: 'Delete a wall link',
    description: 'Screens with this link stop showing monitors within 15 seconds.',
    tags,
    remove: request => deleteWallLink(withRequestActor(db, request), getCaller(request).projectId, request.params.id),
  })
}

const toWallLinkResponse = ({ id, name, query, lastUsedAt, createdAt }: StoredWallLink) => ({
  ...{ id, name, query, last_used_at: lastUsedAt, created_at: createdAt, updated_at: createdAt },
})
