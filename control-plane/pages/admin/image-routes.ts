import { Type } from 'typebox'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { ApiError } from '../../foundation/web/server/errors.ts'
import { addScope } from '../../foundation/web/server/scope.ts'
import { dataSchema, IdParams, responseSchemas } from '../../foundation/web/validation/schemas.ts'
import { IMAGE_TYPES } from '../core/images/image-format.ts'
import type { ImageKind } from '../core/types.ts'
import { uploadImage } from './image-actions.ts'
import { toPageResponse } from './responses.ts'
import { PageRecord } from './schema.ts'

/** Uploads of logos and favicons (docs/design/status-pages.md#images). The body is the file, at most 1 MiB. */
export function pageImageRoutes(app: App, context: { db: Db; publicUrl: string }): void {
  addScope(app, scope => {
    scope.removeContentTypeParser('application/json')
    scope.removeContentTypeParser('*')
    scope.addContentTypeParser([...IMAGE_TYPES], { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => body)
    scope.addContentTypeParser('*', async () => {
      throw new ApiError(415, 'unsupported_media_type', `the content type must be one of ${IMAGE_TYPES.join(', ')}`)
    })
    uploadRoute(scope, context, 'logo')
    uploadRoute(scope, context, 'favicon')
  })
}

function uploadRoute(app: App, { db, publicUrl }: { db: Db; publicUrl: string }, kind: ImageKind): void {
  app.put(
    `/status-pages/:id/${kind}`,
    {
      schema: {
        summary: `Upload a ${kind}`,
        description: 'Accepts PNG, JPEG, WebP or SVG up to 1 MiB. The body is the file.',
        tags: ['Status pages'],
        consumes: [...IMAGE_TYPES],
        params: IdParams,
        body: Type.Unsafe<Buffer | undefined>({ type: 'string', format: 'binary' }),
        response: responseSchemas(200, dataSchema(PageRecord), 400, 404, 413, 415),
      },
      // the bytes are checked by the action
      validatorCompiler: () => () => true,
    },
    async request => {
      const { body: bytes = Buffer.alloc(0), params, headers } = request
      const contentType = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
      const page = await uploadImage(
        withRequestActor(db, request),
        getCaller(request).projectId,
        params.id,
        kind,
        { bytes, contentType },
        now(),
      )
      return { data: toPageResponse(page, publicUrl) }
    },
  )
}
