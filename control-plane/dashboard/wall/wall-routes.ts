import type { FastifyReply, FastifyRequest } from 'fastify'
import { nowMs } from '../../foundation/platform/time/clock.ts'
import { sendErrorPage } from '../../foundation/web/html/forms.ts'
import { getClientNetwork } from '../../foundation/web/limits/client-network.ts'
import { limitByNetwork } from '../../foundation/web/limits/network-rate-limit.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { notFound } from '../../foundation/web/server/errors.ts'
import type { ReadWallBoard } from '../../insight/live/wall-links/actions.ts'
import { DASHBOARD_CSP } from '../document.tsx'
import { buildWall, type WallData } from './wall-data.ts'
import { renderWallPage } from './wall-document.tsx'

/** For some dozens of screens behind one address, which read every 15 s. */
const MAX_REQUESTS_PER_MINUTE = 300

/** `build`: of this server; screens of another build load their page again. */
type WallTools = { isOwnHost(host: string): boolean; readBoard: ReadWallBoard; build: string }

/** `/wall/:token` and its data: a wallboard without a session (docs/design/wallboard.md). */
export function wallRoutes(app: App, { isOwnHost, readBoard, build }: WallTools): void {
  app.setErrorHandler(sendErrorPage)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-robots-tag': 'noindex', 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
    if (!isOwnHost(request.host)) throw notFound('page')
  })
  app.addHook('onRequest', limitByNetwork(MAX_REQUESTS_PER_MINUTE, 'requests for wallboards'))

  // screens with the same link get the same board for some seconds
  const walls = new WeakMap<object, WallData>()
  const readWall = async (request: FastifyRequest): Promise<WallData> => {
    const { token } = request.params as { token: string }
    const board = await readBoard(token, getClientNetwork(request))
    if (!board) throw notFound('page')
    const wall = walls.get(board) ?? buildWall(board)
    walls.set(board, wall)
    return wall
  }
  app.get('/wall/:token', async (request: FastifyRequest, reply: FastifyReply) => {
    const page = renderWallPage(await readWall(request), nowMs(), build)
    return reply
      .headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': DASHBOARD_CSP })
      .send(page)
  })
  app.get('/wall/:token/data', async (request: FastifyRequest) => ({ data: await readWall(request), build }))
}
