import { Type } from 'typebox'
import { isId } from '../../foundation/platform/ids.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { withActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import { deleteRoute, listRoute, updateRoute } from '../../foundation/web/resource-routes.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { found } from '../../foundation/web/server/errors.ts'
import {
  buildFullPageMeta,
  buildPageMeta,
  slicePage,
  toPageBounds,
} from '../../foundation/web/validation/pagination.ts'
import { PageQuery, PaginationMeta, responseSchemas } from '../../foundation/web/validation/schemas.ts'
import { beginInstall, finishInstall, type InstallTools } from './installations/install-actions.ts'
import { InstallationRecord, toInstallationResponse } from './installations/installation.ts'
import { findInstallation, listInstallations } from './installations/installation-store.ts'
import { removeInstallation } from './installations/revoke-actions.ts'
import { listIdentities } from './people/identity-store.ts'
import { setConnected } from './people/people-actions.ts'
import { ListedChannel } from './provider/channel-list.ts'
import { createChannelReader } from './provider/channel-reader.ts'
import { appRemovedError } from './provider/errors.ts'
import { CallbackQuery, ChannelQuery, IdentityBody, IdentityRecord, InstallQuery } from './schema.ts'
import { buildConnectPath } from './settings-pages/connect-path.ts'

const tags = ['Chat']

const InstallationList = Type.Object({
  data: Type.Array(InstallationRecord),
  meta: Type.Object({
    ...PaginationMeta.properties,
    is_app_configured: Type.Boolean({
      description: 'Whether the operator has configured a chat app. Without one, no team can be connected.',
    }),
  }),
})

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

function identityRoutes(app: App, tools: InstallTools): void {
  listRoute(app, '/chat/identities', {
    summary: 'List chat identities',
    description: 'Links between members and chat users, matched by email address. Newest first.',
    tags,
    record: IdentityRecord,
    list: async (request, bounds) => {
      const { rows, total } = await listIdentities(tools.db, getCaller(request).projectId, bounds)
      return { data: rows, total }
    },
  })

  updateRoute(app, '/chat/identities/:id', {
    summary: 'Connect or disconnect a chat identity',
    description:
      'A disconnected chat user cannot acknowledge incidents as the member and gets no direct messages. Neither of the two is linked again by email address until they are connected.',
    tags,
    body: IdentityBody,
    record: IdentityRecord,
    update: request => {
      const link = { projectId: getCaller(request).projectId, id: request.params.id }
      return setConnected(withActor(tools, request).db, { ...link, isConnected: request.body.is_connected }, now())
    },
  })
}

function channelRoutes(app: App, tools: InstallTools): void {
  const readChannels = createChannelReader(tools)
  listRoute(app, '/chat/installations/:id/channels', {
    summary: 'List the channels of a chat installation',
    description: 'Public channels to which an alert channel can post, sorted by name.',
    tags,
    querystring: ChannelQuery,
    record: ListedChannel,
    errors: [400, 404, 409, 503],
    list: async (request, bounds) => {
      const { id } = request.params
      const { projectId } = getCaller(request)
      const installation = found(isId(id) && (await findInstallation(tools.db, projectId, id)), 'chat installation')
      if (installation.revokedAt !== null) throw appRemovedError()
      const search = (request.query.q ?? '').toLowerCase()
      const channels = await readChannels(installation)
      return slicePage(
        channels.filter(({ name }) => name.toLowerCase().includes(search)),
        bounds,
      )
    },
  })
}

function installationRoutes(app: App, tools: InstallTools): void {
  app.get(
    '/chat/installations',
    {
      schema: {
        summary: 'List chat installations',
        description:
          'Newest first. Returns all installations unless `page` or `per_page` is given. `meta.is_app_configured` says whether a team can be connected.',
        tags,
        querystring: PageQuery,
        response: responseSchemas(200, InstallationList, 400),
      },
    },
    async request => {
      const { page, per_page: perPage } = request.query
      const bounds = page === undefined && perPage === undefined ? null : toPageBounds(request.query)
      const { rows, total } = await listInstallations(tools.db, getCaller(request).projectId, bounds)
      const meta = bounds === null ? buildFullPageMeta(total) : buildPageMeta(request.query, total)
      const data = rows.map(toInstallationResponse)
      return { data, meta: { ...meta, is_app_configured: tools.settings !== null } }
    },
  )

  deleteRoute(app, '/chat/installations/:id', {
    summary: 'Delete a chat installation',
    description: 'Deletes its alert channels and revokes the grant. Identity links stay.',
    tags,
    remove: request =>
      removeInstallation(withActor(tools, request), getCaller(request).projectId, request.params.id, now()),
  })
}
