import { Type } from 'typebox'
import { now } from '../platform/clock.ts'
import { isId } from '../platform/ids.ts'
import { toolsActingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { metaOf, metaOfAll, pageOf } from '../web/pages.ts'
import { answers, DeletedResponse, IdParams, PageQuery, pageOf as pageSchema } from '../web/schemas.ts'
import { ListedChannel } from './channel-list.ts'
import { createChannelReader } from './channel-reader.ts'
import { connectPath } from './connect-path.ts'
import { listIdentities } from './identity-store.ts'
import { beginInstall, finishInstall, type InstallTools } from './install-actions.ts'
import { InstallationRecord, presentInstallation } from './installation.ts'
import { appIsGone } from './refusals.ts'
import { removeInstallation } from './revoke-actions.ts'
import { CallbackQuery, ChannelQuery, IdentityRecord, InstallQuery } from './schema.ts'
import { findInstallation, listInstallations } from './store.ts'

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
        response: answers(302, Type.Null({ description: 'Location is the consent screen' }), 400, 404, 409),
      },
    },
    async (request, reply) => {
      const url = beginInstall(tools, callerOf(request), request.query.redirect_to, now())
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
        response: answers(
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
      if (request.headers.accept?.includes('text/html')) return reply.redirect(connectPath(request.query), 302)
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
        response: answers(200, pageSchema(IdentityRecord), 400),
      },
    },
    async request => {
      const { rows, total } = await listIdentities(db, callerOf(request).projectId, pageOf(request.query))
      return { data: rows, meta: metaOf(request.query, total) }
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
        response: answers(200, pageSchema(ListedChannel), 400, 404, 409, 503),
      },
    },
    async request => {
      const { id } = request.params
      const installation = isId(id) ? await findInstallation(tools.db, callerOf(request).projectId, id) : null
      if (!installation) throw notFound('chat installation')
      if (installation.revokedAt !== null) throw appIsGone()
      const wanted = (request.query.q ?? '').toLowerCase()
      const channels = (await readChannels(installation)).filter(({ name }) => name.toLowerCase().includes(wanted))
      const { limit, offset } = pageOf(request.query)
      return { data: channels.slice(offset, offset + limit), meta: metaOf(request.query, channels.length) }
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
        response: answers(200, pageSchema(InstallationRecord), 400),
      },
    },
    async request => {
      const { page, per_page } = request.query
      const isAll = page === undefined && per_page === undefined
      const { projectId } = callerOf(request)
      const { rows, total } = await listInstallations(tools.db, projectId, isAll ? null : pageOf(request.query))
      return { data: rows.map(presentInstallation), meta: isAll ? metaOfAll(total) : metaOf(request.query, total) }
    },
  )

  app.delete(
    '/chat/installations/:id',
    {
      schema: {
        summary: 'End an installation: its channels go, its grant is revoked, identity links stay',
        tags,
        params: IdParams,
        response: answers(200, DeletedResponse, 404),
      },
    },
    async request => {
      const { id } = request.params
      await removeInstallation(toolsActingAs(tools, request), callerOf(request).projectId, id, now())
      return { data: { id, deleted: true as const } }
    },
  )
}
