import { Type } from 'typebox'
import { createYieldPoint } from '../../../foundation/platform/time/clock.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import { encodeContent, matchesEtag, pickEncoding } from '../../../foundation/web/content-encoding.ts'
import type { App, HttpReply } from '../../../foundation/web/server/app.ts'
import { dataSchema, responseSchemas } from '../../../foundation/web/validation/schemas.ts'
import { type LogPosition, parsePosition } from '../position.ts'
import { hashBoard } from './board.ts'
import { buildBoardJson } from './board-body.ts'
import type { BoardReader } from './board-reader.ts'
import { BoardQuery, BoardRecord } from './board-schemas.ts'

type BoardContext = {
  boards: BoardReader
  readRegionsWithoutProbe: () => Promise<readonly string[]>
  readUnreadSince: (projectId: string) => Promise<Date | null>
}

const Unchanged = Type.Null({ description: 'The board has not changed.' })

const DESCRIPTION = `All monitors in columns, small enough for projects with 10,000 of them. The answer is compressed with gzip or Brotli
and has an \`ETag\`: with \`If-None-Match\`, an unchanged board is 304 without a body. \`since\` returns what has changed.`

/** All monitors of a project in one answer (docs/design/live.md#board). */
export function boardRoutes(app: App, { boards, readRegionsWithoutProbe, readUnreadSince }: BoardContext): void {
  app.get(
    '/monitors/board',
    {
      schema: {
        summary: 'Get the status of all monitors in one answer',
        description: DESCRIPTION,
        tags: ['Monitors'],
        querystring: BoardQuery,
        response: { ...responseSchemas(200, dataSchema(BoardRecord), 400), 304: Unchanged },
      },
    },
    async (request, answer) => {
      const reply: HttpReply = answer
      const { projectId } = getCaller(request)
      const encoding = pickEncoding(request.headers['accept-encoding'])
      const regionsWithoutProbe = await readRegionsWithoutProbe()
      const unreadSince = await readUnreadSince(projectId)
      const board = await boards.read(projectId)
      const until = board.position
      const since = request.query.since === undefined ? null : parsePosition(request.query.since, projectId)
      const ids = since && (await boards.listChanged(projectId, since, until))
      const build = (position: LogPosition) =>
        buildBoardJson(board, { projectId, ids, position, regionsWithoutProbe, unreadSince }, createYieldPoint()).then(
          wrapData,
        )
      reply.headers({ 'content-type': 'application/json; charset=utf-8', vary: 'accept-encoding' })
      if (encoding !== 'identity') reply.header('content-encoding', encoding)
      if (ids) return reply.send(await encodeContent(Buffer.from(await build(until)), encoding))
      const hash = hashBoard(board, `${regionsWithoutProbe.join()} ${unreadSince?.toISOString()}`)
      const etag = `W/"${hash}"`
      reply.header('etag', etag)
      if (matchesEtag(request.headers['if-none-match'], etag))
        return reply.removeHeader('content-encoding').code(304).send()
      return reply.send((await boards.encode(projectId, board, { encoding, hash, build })).bytes)
    },
  )
}

const wrapData = (json: string): string => `{"data":${json}}`
