import type { Signer } from '../../foundation/platform/crypto/signer.ts'

/** An id never changes its screenshot or project, so a link can be verified with the id alone. */
type ScreenshotRef = { id: string }

const VALID_SECONDS = 3_600
/** Links that are made within this time are equal, so that browsers can cache the image. */
const STEP_SECONDS = 300

/** Returns when a link that is made now expires, in seconds since 1970: after an hour, up to five minutes more. */
function computeLinkExpiry(now: Date): number {
  return Math.ceil((now.getTime() / 1_000 + VALID_SECONDS) / STEP_SECONDS) * STEP_SECONDS
}

/** Builds `{origin}/screenshots/{id}?expires&signature`, which needs no API key until it expires. */
export function buildScreenshotUrl(origin: string, linked: ScreenshotRef, now: Date, sign: Signer): string {
  const expires = computeLinkExpiry(now)
  return `${origin}/screenshots/${linked.id}?expires=${expires}&signature=${signScreenshotLink(linked, expires, sign)}`
}

export function signScreenshotLink({ id }: ScreenshotRef, expires: number, sign: Signer): string {
  return sign(`${id} ${expires}`)
}
