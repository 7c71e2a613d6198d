import type { Signer } from '../../foundation/platform/crypto/signer.ts'

/** An id is one picture of one project for all time, so nothing else has to be known to check a link. */
export type ScreenshotRef = { id: string }

const VALID_SECONDS = 3_600
/** Links made within so long are the same, so that browsers may keep what they point to. */
const STEP_SECONDS = 300

/** When a link that is made now stops working, in seconds since 1970: after an hour, up to five minutes more. */
export function computeLinkExpiry(now: Date): number {
  return Math.ceil((now.getTime() / 1_000 + VALID_SECONDS) / STEP_SECONDS) * STEP_SECONDS
}

/** `{origin}/screenshots/{id}?expires&signature`: opens without a key, for as long as it is valid. */
export function buildScreenshotUrl(origin: string, linked: ScreenshotRef, now: Date, sign: Signer): string {
  const expires = computeLinkExpiry(now)
  return `${origin}/screenshots/${linked.id}?expires=${expires}&signature=${signScreenshotLink(linked, expires, sign)}`
}

export function signScreenshotLink({ id }: ScreenshotRef, expires: number, sign: Signer): string {
  return sign(`${id} ${expires}`)
}
