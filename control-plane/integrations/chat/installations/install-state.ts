import type { Signer } from '../../../foundation/platform/crypto/signer.ts'

/** For whom an installation is begun, and where it ends. The text is opaque to the provider, which sends it back. */
export type InstallState = {
  /** told once: the same state does not count twice */
  id: string
  projectId: string
  userId: string
  redirectTo: string
  /** the API key with which it was begun, if it was one */
  keyId?: string
  /** the session in which it was begun, if it was one */
  sessionId?: string
  /** who began it may only read, so a person who may change the project has to confirm it */
  needsEditor?: boolean
  expiresAtMs: number
}

/** What states are signed for (platform/signer.ts). */
export const STATE_PURPOSE = 'chat installs'

/** Somebody consents within so many minutes (decisions 10.2). */
export const STATE_TIMEOUT_MS = 10 * 60_000

export function encodeState(state: InstallState, sign: Signer): string {
  const text = Buffer.from(JSON.stringify(state)).toString('base64url')
  return `${text}.${sign(text)}`
}

/** What a state says; 'forged' when we did not sign it, 'expired' when its time is over. */
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

/** Where a person lands after the installation: a page of our own origin, or null for any other text. */
export function resolveLandingUrl(redirectTo: string | undefined, publicUrl: string): string | null {
  if (redirectTo === undefined) return `${publicUrl}/settings/chat`
  // a URL parser drops line breaks, and reads a backslash as a slash
  if (/[\s\\\p{Cc}]/u.test(redirectTo)) return null
  const base = new URL(publicUrl)
  if (!URL.canParse(redirectTo, base)) return null
  const url = new URL(redirectTo, base)
  const isOurs = url.origin === base.origin && url.username === '' && url.password === ''
  return isOurs && /^(https?:\/\/|\/(?!\/))/i.test(redirectTo) ? url.href : null
}
