import type { Egress } from '../../shared/egress/index.ts'
import { get } from '../platform/http.ts'
import { newId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import { validationError } from '../web/errors.ts'
import { inPage, pageIdOf } from './hold-actions.ts'
import { imageOf, MAX_IMAGE_BYTES } from './image.ts'
import { type NewImage, putImage } from './image-store.ts'
import type { StoredPage } from './records.ts'
import { findPage } from './store.ts'
import type { ImageKind } from './types.ts'

const TIMEOUT_MS = 10_000

/**
 * Fetches a logo or favicon once, through the egress guard, so that visitors load it from the page's own origin. Throws
 * a 400 about `field` when it is no https address, cannot be had, or is no image.
 */
export async function fetchImage(egress: Egress, field: string, url: string): Promise<NewImage> {
  const refuse = (sentence: string) => validationError([{ path: field, message: `${field} ${sentence}` }])
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:') throw refuse('must be an https address')
  const { hostname, username, password } = new URL(url)
  if (username !== '' || password !== '') throw refuse('must not hold credentials')
  const refusal = egress.checkLiteral(hostname)
  if (refusal !== null) throw refuse(`cannot be fetched: ${refusal}`)
  const limits = { timeoutMs: TIMEOUT_MS, maxAnswerBytes: MAX_IMAGE_BYTES }
  const answer = await get(url, { accept: 'image/svg+xml, image/webp, image/png, image/jpeg' }, limits, egress)
  if (answer.error !== null) throw refuse(`cannot be fetched: ${answer.error.message}`)
  if (answer.statusCode !== 200) throw refuse(`cannot be fetched: the server answered ${answer.statusCode}`)
  if (answer.truncated) throw refuse('leads to more than 1 MiB')
  const image = imageOf(Buffer.from(answer.body ?? ''))
  if ('problem' in image) throw refuse(`leads to something that ${image.problem}`)
  return { id: newId(), ...image, sourceUrl: url }
}

/** Puts an upload where the logo or favicon was. Throws 400 and 404. */
export async function uploadImage(
  db: Db,
  projectId: string,
  pageId: string,
  kind: ImageKind,
  { bytes, contentType }: { bytes: Buffer; contentType: string },
  now: Date,
): Promise<StoredPage> {
  await pageIdOf(db, projectId, pageId)
  const image = imageOf(bytes)
  const refuse = (sentence: string) => validationError([{ path: '', message: `the ${kind} ${sentence}` }])
  if ('problem' in image) throw refuse(image.problem)
  if (image.contentType !== contentType) throw refuse(`is ${image.contentType} and not ${contentType}`)
  return inPage(db, projectId, pageId, now, async (tx, page) => {
    await putImage(tx, page.id, kind, { id: newId(), ...image, sourceUrl: null }, now)
    return { ...(await findPage(tx, projectId, page.id))!, updatedAt: now }
  })
}
