import type { Egress } from '../../../shared/egress/types.ts'
import type { CheckLiteral } from '../../alerting/channels/types.ts'
import { sha256 } from '../../foundation/platform/crypto/encryption.ts'
import { newId } from '../../foundation/platform/ids.ts'
import { httpGet } from '../../foundation/platform/network/http-client.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { validationError } from '../../foundation/web/server/errors.ts'
import { MAX_IMAGE_BYTES, parseImage } from '../core/images/image-format.ts'
import {
  type DueImage,
  type FetchedImage,
  recordFetchProblem,
  recordFetchSuccess,
  saveFetchedImage,
  saveUpload,
} from '../core/images/image-store.ts'
import { findPage, touchPage } from '../core/page-store.ts'
import type { StoredPage } from '../core/records.ts'
import type { ImageKind } from '../core/types.ts'
import { getPageId, withLockedPage } from './page-lock-actions.ts'

const FETCH_TIMEOUT_MS = 10_000
const DAY_MS = 86_400_000
const MIN_RETRY_DELAY_MS = 30_000

/** Throws a 400 about `field` unless an image may be fetched from this address, whether or not it is there now. */
export function assertImageUrl(checkLiteral: CheckLiteral, field: string, url: string): void {
  const refuse = (sentence: string) => validationError([{ path: field, message: `${field} ${sentence}` }])
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:') throw refuse('must be an https address')
  const { hostname, username, password } = new URL(url)
  if (username !== '' || password !== '') throw refuse('must not hold credentials')
  const refusal = checkLiteral(hostname)
  if (refusal !== null) throw refuse(`cannot be fetched: ${refusal}`)
}

export type ImageTools = { db: Db; egress: Egress; now: () => Date }

/**
 * Fetches a logo or favicon through the egress guard, so that visitors load it from the page's own origin. A failure is
 * noted with the image, which is tried again after 30 s, 2 min, 8 min and so on, at least once a day; the image before
 * stays. Answers whether it is there.
 */
export async function refreshImage({ db, egress, now }: ImageTools, image: DueImage): Promise<boolean> {
  const fetched = await fetchImage(egress, image.url)
  const at = now()
  if ('problem' in fetched) {
    const waitMs = Math.min(DAY_MS, MIN_RETRY_DELAY_MS * 4 ** image.failures)
    await recordFetchProblem(db, image, fetched.problem, new Date(at.getTime() + waitMs))
    return false
  }
  const isSame = image.digest === sha256(fetched.bytes).toString('hex')
  await db.transaction(async tx => {
    // visitors see it with the commit; the page is held before what is on it, as everywhere
    if (!isSame) await touchPage(tx, image.pageId, at)
    if (!isSame) await saveFetchedImage(tx, image, fetched, at)
    await recordFetchSuccess(tx, image, new Date(at.getTime() + DAY_MS))
  })
  return true
}

async function fetchImage(egress: Egress, url: string): Promise<FetchedImage | { problem: string }> {
  const limits = { timeoutMs: FETCH_TIMEOUT_MS, maxAnswerBytes: MAX_IMAGE_BYTES }
  const answer = await httpGet(url, { accept: 'image/svg+xml, image/webp, image/png, image/jpeg' }, limits, egress)
  if (answer.error !== null) return { problem: `cannot be fetched: ${answer.error.message}` }
  if (answer.statusCode !== 200) return { problem: `cannot be fetched: the server answered ${answer.statusCode}` }
  if (answer.truncated) return { problem: 'leads to more than 1 MiB' }
  const image = parseImage(Buffer.from(answer.body ?? ''))
  return 'problem' in image ? { problem: `leads to something that ${image.problem}` } : { id: newId(), ...image }
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
  await getPageId(db, projectId, pageId)
  const image = parseImage(bytes)
  const refuse = (sentence: string) => validationError([{ path: '', message: `the ${kind} ${sentence}` }])
  if ('problem' in image) throw refuse(image.problem)
  if (image.contentType !== contentType) throw refuse(`is ${image.contentType} and not ${contentType}`)
  return withLockedPage(db, projectId, pageId, now, async (tx, page) => {
    await saveUpload(tx, page.id, kind, { id: newId(), ...image }, now)
    return { ...(await findPage(tx, projectId, page.id))!, updatedAt: now }
  })
}
