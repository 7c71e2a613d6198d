import { Type } from 'typebox'
import { now } from '../platform/clock.ts'
import type { Db } from '../platform/postgres.ts'
import { actingAs } from '../web/acting.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { ApiError } from '../web/errors.ts'
import { answers, dataOf, IdParams } from '../web/schemas.ts'
import { IMAGE_TYPES } from './image.ts'
import { uploadImage } from './image-actions.ts'
import { presentPage } from './present.ts'
import { PageRecord } from './schema.ts'
import type { ImageKind } from './types.ts'

/** Uploads of logos and favicons (decisions 7.1): the bytes themselves are the body, at most 1 MiB. */
export function pageImageRoutes(app: App, context: { db: Db; publicUrl: string }): void {
  app.register(async scope => {
    scope.removeContentTypeParser('application/json')
    scope.removeContentTypeParser('*')
    scope.addContentTypeParser([...IMAGE_TYPES], { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => body)
    scope.addContentTypeParser('*', async () => {
      throw new ApiError(415, 'unsupported_media_type', `send one of ${IMAGE_TYPES.join(', ')}`)
    })
    uploadRoute(scope as App, context, 'logo')
    uploadRoute(scope as App, context, 'favicon')
  })
}

function uploadRoute(app: App, { db, publicUrl }: { db: Db; publicUrl: string }, kind: ImageKind): void {
  app.put(
    `/status-pages/:id/${kind}`,
    {
      schema: {
        summary: `Upload a ${kind}: PNG, JPEG, WebP or SVG, at most 1 MiB`,
        tags: ['Status pages'],
        consumes: [...IMAGE_TYPES],
        params: IdParams,
        body: Type.Unsafe<Buffer | undefined>({ type: 'string', format: 'binary' }),
        response: answers(200, dataOf(PageRecord), 400, 404, 413, 415),
      },
      // what is sent is judged by its bytes
      validatorCompiler: () => () => true,
    },
    async request => {
      const { body: bytes = Buffer.alloc(0), params, headers } = request
      const contentType = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
      const page = await uploadImage(
        actingAs(db, request),
        callerOf(request).projectId,
        params.id,
        kind,
        { bytes, contentType },
        now(),
      )
      return { data: presentPage(page, publicUrl) }
    },
  )
}
