import type { AttemptLimit } from './attempt-store.ts'

/**
 * Who guesses one person's password, and from where: guesses from one network do not shut out the person's own. After 100
 * from many networks everybody waits; a link by mail works even then.
 */
export const buildSignInLimits = (email: string, network: string): AttemptLimit[] => [
  { subject: `network:${network}`, max: 50 },
  { subject: buildPersonSubject(email, network), max: 10 },
  { subject: `person:${email}`, max: 100 },
]

export const buildPersonSubject = (email: string, network: string): string => `person:${email}:${network}`

/** Mails to one address, and how many of them one network may ask for. */
export const buildResetLimits = (email: string, network: string): AttemptLimit[] => [
  { subject: `reset-network:${network}`, max: 20 },
  { subject: `reset:${email}`, max: 3 },
]

/** Mails in which somebody's words stand, to an address that somebody names. */
export const buildInvitationLimits = (email: string, organizationId: string): AttemptLimit[] => [
  { subject: `invited:${email}`, max: 3 },
  { subject: `inviting:${organizationId}`, max: 30 },
]
