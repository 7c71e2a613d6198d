import { Type } from 'typebox'
import { isId } from '../../foundation/platform/ids.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { withRequestActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { ApiError, found } from '../../foundation/web/server/errors.ts'
import { addScope } from '../../foundation/web/server/scope.ts'
import { dataSchema, IdParams, responseSchemas, strictObject } from '../../foundation/web/validation/schemas.ts'
import { IMAGE_POLICY, IMAGE_TYPES } from '../core/images/image-format.ts'
import { findPageImage } from '../core/images/image-store.ts'
import type { ImageKind } from '../core/types.ts'
import { uploadImage } from './image-actions.ts'
import { toPageResponse } from './responses.ts'
import { PageRecord } from './schema.ts'

/** Logos and favicons (docs/design/status-pages.md#images). An upload is at most 1 MiB. */
export function pageImageRoutes(app: App, context: { db: Db; publicUrl: string }): void {
  addScope(app, scope => {
    scope.removeContentTypeParser('application/json')
    scope.removeContentTypeParser('*')
    scope.addContentTypeParser([...IMAGE_TYPES], { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => body)
    scope.addContentTypeParser('*', async () => {
      throw new ApiError(415, 'unsupported_media_type', `the content type must be one of ${IMAGE_TYPES.join(', ')}`)
    })
    for (const kind of ['logo', 'favicon'] as const) {
      uploadRoute(scope, context, kind)
      readRoute(scope, context, kind)
    }
  })
}

const IMAGE_CONTENT = Object.fromEntries(
  IMAGE_TYPES.map(type => [type, { schema: Type.Unsafe<Buffer>({ type: 'string', format: 'binary' }) }]),
)

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

function readRoute(app: App, { db }: { db: Db }, kind: ImageKind): void {
  app.get(
    `/status-pages/:id/${kind}`,
    {
      schema: {
        summary: `Read the ${kind}`,
        description: `Returns the file, also while the page is not published. Visitors get the ${kind} from the page.`,
        tags: ['Status pages'],
        params: IdParams,
        querystring: strictObject({
          v: Type.Optional(
            Type.String({ maxLength: 100, description: 'Any text, so that a new file has a new address.' }),
          ),
        }),
        response: {
          ...responseSchemas(200, Type.Unsafe<Buffer>({}), 400, 404),
          200: { description: `The ${kind}`, content: IMAGE_CONTENT },
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const image = found(isId(id) && (await findPageImage(db, getCaller(request).projectId, id, kind)), kind)
      return reply
        .headers({ 'content-type': image.contentType, 'content-security-policy': IMAGE_POLICY })
        .send(image.bytes)
    },
  )
}
