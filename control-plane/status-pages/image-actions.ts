import type { Egress } from '../../shared/egress/index.ts'
import type { CheckLiteral } from '../channels/types.ts'
import { get } from '../platform/http.ts'
import { newId } from '../platform/ids.ts'
import type { Db } from '../platform/postgres.ts'
import { sha256 } from '../platform/secrets.ts'
import { validationError } from '../web/errors.ts'
import { inPage, pageIdOf } from './hold-actions.ts'
import { imageOf, MAX_IMAGE_BYTES } from './image.ts'
import { type DueImage, type Fetched, putFetched, putProblem, putSuccess, putUpload } from './image-store.ts'
import type { StoredPage } from './records.ts'
import { findPage, touchPage } from './store.ts'
import type { ImageKind } from './types.ts'

const TIMEOUT_MS = 10_000
const DAY_MS = 86_400_000
const FIRST_RETRY_MS = 30_000

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
    const waitMs = Math.min(DAY_MS, FIRST_RETRY_MS * 4 ** image.failures)
    await putProblem(db, image, fetched.problem, new Date(at.getTime() + waitMs))
    return false
  }
  const isSame = image.digest === sha256(fetched.bytes).toString('hex')
  await db.transaction(async tx => {
    // visitors see it with the commit; the page is held before what is on it, as everywhere
    if (!isSame) await touchPage(tx, image.pageId, at)
    if (!isSame) await putFetched(tx, image, fetched, at)
    await putSuccess(tx, image, new Date(at.getTime() + DAY_MS))
  })
  return true
}

async function fetchImage(egress: Egress, url: string): Promise<Fetched | { problem: string }> {
  const limits = { timeoutMs: TIMEOUT_MS, maxAnswerBytes: MAX_IMAGE_BYTES }
  const answer = await get(url, { accept: 'image/svg+xml, image/webp, image/png, image/jpeg' }, limits, egress)
  if (answer.error !== null) return { problem: `cannot be fetched: ${answer.error.message}` }
  if (answer.statusCode !== 200) return { problem: `cannot be fetched: the server answered ${answer.statusCode}` }
  if (answer.truncated) return { problem: 'leads to more than 1 MiB' }
  const image = imageOf(Buffer.from(answer.body ?? ''))
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
  await pageIdOf(db, projectId, pageId)
  const image = imageOf(bytes)
  const refuse = (sentence: string) => validationError([{ path: '', message: `the ${kind} ${sentence}` }])
  if ('problem' in image) throw refuse(image.problem)
  if (image.contentType !== contentType) throw refuse(`is ${image.contentType} and not ${contentType}`)
  return inPage(db, projectId, pageId, now, async (tx, page) => {
    await putUpload(tx, page.id, kind, { id: newId(), ...image }, now)
    return { ...(await findPage(tx, projectId, page.id))!, updatedAt: now }
  })
}
