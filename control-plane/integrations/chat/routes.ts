import { Type } from 'typebox'
import { isId } from '../../foundation/platform/ids.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { withActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { found } from '../../foundation/web/server/errors.ts'
import { buildFullPageMeta, buildPageMeta, toPageBounds } from '../../foundation/web/validation/pagination.ts'
import {
  DeletedResponse,
  IdParams,
  PageQuery,
  pageSchema,
  responseSchemas,
} from '../../foundation/web/validation/schemas.ts'
import { beginInstall, finishInstall, type InstallTools } from './installations/install-actions.ts'
import { InstallationRecord, toInstallationResponse } from './installations/installation.ts'
import { findInstallation, listInstallations } from './installations/installation-store.ts'
import { removeInstallation } from './installations/revoke-actions.ts'
import { listIdentities } from './people/identity-store.ts'
import { ListedChannel } from './provider/channel-list.ts'
import { createChannelReader } from './provider/channel-reader.ts'
import { appRemovedError } from './provider/errors.ts'
import { CallbackQuery, ChannelQuery, IdentityRecord, InstallQuery } from './schema.ts'
import { buildConnectPath } from './settings-pages/connect-path.ts'

const tags = ['Chat']

/** Routes of chat installations (docs/design/chat.md#installation). */
export function chatRoutes(app: App, tools: InstallTools): void {
  installRoutes(app, tools)
  installationRoutes(app, tools)
  channelRoutes(app, tools)
  identityRoutes(app, tools)
}

function installRoutes(app: App, tools: InstallTools): void {
  app.get(
    '/chat/oauth/install',
    {
      schema: {
        summary: 'Start a chat installation',
        description:
          'Redirects to the consent screen of the chat. An installation that was started with a read key needs the confirmation of an editor or admin who is signed in to the browser.',
        tags,
        querystring: InstallQuery,
        response: responseSchemas(302, Type.Null({ description: '`Location` is the consent screen.' }), 400, 404, 409),
      },
    },
    async (request, reply) => {
      const url = beginInstall(tools, getCaller(request), request.query.redirect_to, now())
      return reply.redirect(url, 302)
    },
  )

  app.get(
    '/chat/oauth/callback',
    {
      config: { open: true },
      schema: {
        summary: 'Finish a chat installation',
        description: 'The redirect URL of the chat app. Exchanges the code and stores the installation.',
        tags,
        querystring: CallbackQuery,
        response: responseSchemas(
          302,
          Type.Null({
            description:
              '`Location` is the requested page. A browser is first redirected to a page that confirms the installation.',
          }),
          400,
          403,
          404,
          409,
          503,
        ),
      },
    },
    async (request, reply) => {
      reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
      if (request.headers.accept?.includes('text/html')) return reply.redirect(buildConnectPath(request.query), 302)
      const { landing } = await finishInstall(tools, request.query, request, now())
      return reply.redirect(landing, 302)
    },
  )
}

function identityRoutes(app: App, { db }: InstallTools): void {
  app.get(
    '/chat/identities',
    {
      schema: {
        summary: 'List chat identities',
        description: 'Links between members and chat users, matched by e-mail address. Newest first.',
        tags,
        querystring: PageQuery,
        response: responseSchemas(200, pageSchema(IdentityRecord), 400),
      },
    },
    async request => {
      const { rows, total } = await listIdentities(db, getCaller(request).projectId, toPageBounds(request.query))
      return { data: rows, meta: buildPageMeta(request.query, total) }
    },
  )
}

function channelRoutes(app: App, tools: InstallTools): void {
  const readChannels = createChannelReader(tools)
  app.get(
    '/chat/installations/:id/channels',
    {
      schema: {
        summary: 'List the channels of a chat installation',
        description: 'Public channels to which an alert channel can post, sorted by name.',
        tags,
        params: IdParams,
        querystring: ChannelQuery,
        response: responseSchemas(200, pageSchema(ListedChannel), 400, 404, 409, 503),
      },
    },
    async request => {
      const { id } = request.params
      const installation = found(
        isId(id) && (await findInstallation(tools.db, getCaller(request).projectId, id)),
        'chat installation',
      )
      if (installation.revokedAt !== null) throw appRemovedError()
      const search = (request.query.q ?? '').toLowerCase()
      const channels = (await readChannels(installation)).filter(({ name }) => name.toLowerCase().includes(search))
      const { limit, offset } = toPageBounds(request.query)
      return { data: channels.slice(offset, offset + limit), meta: buildPageMeta(request.query, channels.length) }
    },
  )
}

function installationRoutes(app: App, tools: InstallTools): void {
  app.get(
    '/chat/installations',
    {
      schema: {
        summary: 'List chat installations',
        description: 'Newest first. Returns all installations unless `page` or `per_page` is given.',
        tags,
        querystring: PageQuery,
        response: responseSchemas(200, pageSchema(InstallationRecord), 400),
      },
    },
    async request => {
      const { page, per_page } = request.query
      const isAll = page === undefined && per_page === undefined
      const { projectId } = getCaller(request)
      const { rows, total } = await listInstallations(tools.db, projectId, isAll ? null : toPageBounds(request.query))
      return {
        data: rows.map(toInstallationResponse),
        meta: isAll ? buildFullPageMeta(total) : buildPageMeta(request.query, total),
      }
    },
  )

  app.delete(
    '/chat/installations/:id',
    {
      schema: {
        summary: 'Delete a chat installation',
        description: 'Deletes its alert channels and revokes the grant. Identity links stay.',
        tags,
        params: IdParams,
        response: responseSchemas(200, DeletedResponse, 404),
      },
    },
    async request => {
      const { id } = request.params
      await removeInstallation(withActor(tools, request), getCaller(request).projectId, id, now())
      return { data: { id, deleted: true as const } }
    },
  )
}
