import { Type } from 'typebox'
import { isId } from '../../foundation/platform/ids.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { withActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { notFound } from '../../foundation/web/server/errors.ts'
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

/** Installing the app in a team's chat, and ending that (specification, "Team-chat app install"). */
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
        summary: 'Go to the consent screen of the chat',
        description:
          'An installation that a read key began is connected only when an editor or admin of the project is signed in to the browser and confirms it.',
        tags,
        querystring: InstallQuery,
        response: responseSchemas(302, Type.Null({ description: 'Location is the consent screen' }), 400, 404, 409),
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
        summary: 'Where the chat sends people back: stores the installation',
        tags,
        querystring: CallbackQuery,
        response: responseSchemas(
          302,
          Type.Null({
            description: 'Location is the page that was asked for; a browser is led there by a page of ours',
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
        summary: 'Who members are in the chat, by their e-mail addresses; newest first',
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
        summary: 'Public channels that an alert channel may write to, by their names',
        tags,
        params: IdParams,
        querystring: ChannelQuery,
        response: responseSchemas(200, pageSchema(ListedChannel), 400, 404, 409, 503),
      },
    },
    async request => {
      const { id } = request.params
      const installation = isId(id) ? await findInstallation(tools.db, getCaller(request).projectId, id) : null
      if (!installation) throw notFound('chat installation')
      if (installation.revokedAt !== null) throw appRemovedError()
      const wanted = (request.query.q ?? '').toLowerCase()
      const channels = (await readChannels(installation)).filter(({ name }) => name.toLowerCase().includes(wanted))
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
        summary: 'List installations, newest first; all of them when no page is asked for',
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
        summary: 'End an installation: its channels go, its grant is revoked, identity links stay',
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
