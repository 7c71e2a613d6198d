import type { Signer } from '../../../foundation/platform/crypto/signer.ts'

/** The state of an installation in progress. The provider sends it back unchanged. */
export type InstallState = {
  /** prevents a second use of the state */
  id: string
  projectId: string
  userId: string
  redirectTo: string
  /** the API key that began it, if any */
  keyId?: string
  /** the session that began it, if any */
  sessionId?: string
  /** begun with read access only, so an editor or admin must confirm it */
  needsEditor?: boolean
  expiresAtMs: number
}

/** The purpose of the key that signs states (foundation/platform/crypto/signer.ts). */
export const STATE_PURPOSE = 'chat installs'

/** Time from the beginning of an installation to its end. */
export const STATE_TIMEOUT_MS = 10 * 60_000

export function encodeState(state: InstallState, sign: Signer): string {
  const text = Buffer.from(JSON.stringify(state)).toString('base64url')
  return `${text}.${sign(text)}`
}

/** Decodes a state. Returns 'forged' for an invalid signature and 'expired' after its expiry. */
export function decodeState(
  sent: string,
  sign: Signer,
  isEqual: (a: string, b: string) => boolean,
  nowMs: number,
): InstallState | 'forged' | 'expired' {
  const [text = '', signature = '', ...more] = sent.split('.')
  if (more.length > 0 || !isEqual(signature, sign(text))) return 'forged'
  const state = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as InstallState
  return state.expiresAtMs > nowMs ? state : 'expired'
}

/** Returns the landing page after an installation, which must be on this origin; null for other addresses. */
export function resolveLandingUrl(redirectTo: string | undefined, publicUrl: string): string | null {
  if (redirectTo === undefined) return `${publicUrl}/settings/chat`
  // URL parsers drop line breaks and treat a backslash as a slash
  if (/[\s\\\p{Cc}]/u.test(redirectTo)) return null
  const base = new URL(publicUrl)
  if (!URL.canParse(redirectTo, base)) return null
  const url = new URL(redirectTo, base)
  const isOwnOrigin = url.origin === base.origin && url.username === '' && url.password === ''
  return isOwnOrigin && /^(https?:\/\/|\/(?!\/))/i.test(redirectTo) ? url.href : null
}
