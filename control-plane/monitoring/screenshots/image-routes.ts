import { equalSecrets } from '../../foundation/platform/crypto/encryption.ts'
import type { Signer } from '../../foundation/platform/crypto/signer.ts'
import { isId } from '../../foundation/platform/ids.ts'
import type { ObjectStore } from '../../foundation/platform/object-storage/nats-bucket.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { nowMs } from '../../foundation/platform/time/clock.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { insufficientScope, notFound } from '../../foundation/web/server/errors.ts'
import { signScreenshotLink } from './signed-link.ts'
import { findScreenshot } from './store.ts'

/**
 * `GET {origin}/screenshots/{id}?expires&signature`: the image (docs/design/screenshots.md#links). A link with a wrong
 * signature is a 404, an expired one a 403. The Content-Security-Policy allows nothing, because the content comes from a
 * foreign page.
 */
export function imageRoutes(app: App, { db, objects, sign }: { db: Db; objects: ObjectStore; sign: Signer }): void {
  app.get<{ Params: { id: string } }>('/screenshots/:id', async (request, reply) => {
    const { id } = request.params
    const { expires, signature } = request.query as Record<string, unknown>
    const isSigned =
      isId(id) &&
      typeof signature === 'string' &&
      /^\d{1,12}$/.test(String(expires)) &&
      equalSecrets(signature, signScreenshotLink({ id }, Number(expires), sign))
    if (!isSigned) throw notFound('screenshot')
    const leftSeconds = Math.floor(Number(expires) - nowMs() / 1_000)
    if (leftSeconds < 0) throw insufficientScope('this link has expired; fetch the check again for a new one')
    const screenshot = await findScreenshot(db, id)
    const bytes = screenshot && (await objects.get(screenshot.storeKey))
    if (!screenshot || !bytes) throw notFound('screenshot')
    return reply
      .headers({
        'content-type': screenshot.contentType,
        'content-disposition': 'inline',
        'content-security-policy': "default-src 'none'; sandbox",
        'cache-control': `private, max-age=${leftSeconds}, immutable`,
        'referrer-policy': 'no-referrer',
      })
      .send(bytes)
  })
}
