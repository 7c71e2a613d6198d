/** What a link with which a password is set is for: an account that has none yet, or a password that was forgotten. */
export type LinkPurpose = 'claim' | 'reset'

const HOUR_MS = 3_600_000

/** How long each works. The one that claims is the specification's. */
export const LINK_LIFETIME_MS: Record<LinkPurpose, number> = { claim: 72 * HOUR_MS, reset: HOUR_MS }

/** The address that a person opens. */
export const buildLinkUrl = (publicUrl: string, purpose: LinkPurpose, token: string): string =>
  `${publicUrl}/${purpose}/${token}`

/** Why a link does nothing any more. */
export type LinkProblem = 'unknown' | 'used' | 'expired'
