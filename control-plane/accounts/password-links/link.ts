/** What a link with which a password is set is for: an account that has none yet, or a password that was forgotten. */
export type Purpose = 'claim' | 'reset'

const HOUR_MS = 3_600_000

/** How long each works. The one that claims is the specification's. */
export const LINK_MS: Record<Purpose, number> = { claim: 72 * HOUR_MS, reset: HOUR_MS }

/** The address that a person opens. */
export const linkUrl = (publicUrl: string, purpose: Purpose, token: string): string =>
  `${publicUrl}/${purpose}/${token}`

/** Why a link does nothing any more. */
export type Dead = 'unknown' | 'used' | 'expired'
