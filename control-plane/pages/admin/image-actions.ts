import type { Egress } from '../../../shared/egress/types.ts'
import type { CheckLiteral } from '../../alerting/channels/types.ts'
import { sha256 } from '../../foundation/platform/crypto/encryption.ts'
import { newId } from '../../foundation/platform/ids.ts'
import { httpGet } from '../../foundation/platform/network/http-client.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { validationError } from '../../foundation/web/server/errors.ts'
import { MAX_IMAGE_BYTES } from '../core/images/image-format.ts'
import {
  type DueImage,
  type FetchedImage,
  recordFetchProblem,
  recordFetchSuccess,
  saveFetchedImage,
  saveUpload,
} from '../core/images/image-store.ts'
import { parseOwnedImage } from '../core/images/parse-actions.ts'
import { findPage, touchPage } from '../core/page-store.ts'
import type { StoredPage } from '../core/records.ts'
import type { ImageKind } from '../core/types.ts'
import { getPageId, withLockedPage } from './page-lock-actions.ts'

const FETCH_TIMEOUT_MS = 10_000
const DAY_MS = 86_400_000
const MIN_RETRY_DELAY_MS = 30_000

/** Throws 400 for `field` unless an image may be fetched from this address. The image itself is not requested. */
export function assertImageUrl(checkLiteral: CheckLiteral, field: string, url: string): void {
  const fault = (sentence: string) => validationError([{ path: field, message: `${field} ${sentence}` }])
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:') throw fault('must be an https URL')
  const { hostname, username, password } = new URL(url)
  if (username !== '' || password !== '') throw fault('must not contain credentials')
  const refusal = checkLiteral(hostname)
  if (refusal !== null) throw fault(`cannot be fetched: ${refusal}`)
}

type ImageTools = { db: Db; egress: Egress; now: () => Date }

/**
 * Fetches a logo or favicon through the egress guard, so that visitors load it from the page's own origin. A failure is
 * stored with the image. It is retried after 30 s, 2 min, 8 min and so on, at least once a day; the previous image
 * stays. Returns whether the image was fetched.
 */
export async function refreshImage({ db, egress, now }: ImageTools, image: DueImage): Promise<boolean> {
  const fetched = await fetchImage(egress, image)
  const at = now()
  if ('problem' in fetched) {
    const waitMs = Math.min(DAY_MS, MIN_RETRY_DELAY_MS * 4 ** image.failures)
    await recordFetchProblem(db, image, fetched.problem, new Date(at.getTime() + waitMs))
    return false
  }
  const isSame = image.digest === sha256(fetched.bytes).toString('hex')
  await db.transaction(async tx => {
    // a new row version shows the image to visitors; the page is locked before its images, as everywhere
    if (!isSame) await touchPage(tx, image.pageId, at)
    if (!isSame) await saveFetchedImage(tx, image, fetched, at)
    await recordFetchSuccess(tx, image, new Date(at.getTime() + DAY_MS))
  })
  return true
}

async function fetchImage(egress: Egress, { url, pageId }: DueImage): Promise<FetchedImage | { problem: string }> {
  const limits = { timeoutMs: FETCH_TIMEOUT_MS, maxAnswerBytes: MAX_IMAGE_BYTES }
  const answer = await httpGet(url, { accept: 'image/svg+xml, image/webp, image/png, image/jpeg' }, limits, egress)
  if (answer.error !== null) return { problem: `cannot be fetched: ${answer.error.message}` }
  if (answer.statusCode !== 200) return { problem: `cannot be fetched: the server answered ${answer.statusCode}` }
  if (answer.truncated) return { problem: 'is larger than 1 MiB' }
  const image = await parseOwnedImage(pageId, Buffer.from(answer.body ?? ''))
  return 'problem' in image ? { problem: `cannot be used: the file ${image.problem}` } : { id: newId(), ...image }
}

/** Replaces the logo or favicon by an upload. Throws 400 and 404. */
export async function uploadImage(
  db: Db,
  projectId: string,
  pageId: string,
  kind: ImageKind,
  { bytes, contentType }: { bytes: Buffer; contentType: string },
  now: Date,
): Promise<StoredPage> {
  await getPageId(db, projectId, pageId)
  const image = await parseOwnedImage(projectId, bytes)
  const fault = (sentence: string) => validationError([{ path: '', message: `the ${kind} ${sentence}` }])
  if ('problem' in image) throw fault(image.problem)
  if (image.contentType !== contentType) throw fault(`is ${image.contentType}, but the content type is ${contentType}`)
  return withLockedPage(db, projectId, pageId, now, async (tx, page) => {
    await saveUpload(tx, page.id, kind, { id: newId(), ...image }, now)
    return { ...(await findPage(tx, projectId, page.id))!, updatedAt: now }
  })
}
