/** The purpose of a link that sets a password: `claim` a new account, or `reset` a forgotten password. */
export type LinkPurpose = 'claim' | 'reset'

const HOUR_MS = 3_600_000

/** How long each kind of link works. */
export const LINK_LIFETIME_MS: Record<LinkPurpose, number> = { claim: 72 * HOUR_MS, reset: HOUR_MS }

/** The URL of a link. */
export const buildLinkUrl = (publicUrl: string, purpose: LinkPurpose, token: string): string =>
  `${publicUrl}/${purpose}/${token}`

/** Why a link does not work. */
export type LinkProblem = 'unknown' | 'used' | 'expired'
