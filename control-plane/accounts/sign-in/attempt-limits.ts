import type { AttemptLimit } from './attempt-store.ts'

/**
 * Limits of failed sign-ins. Guesses from one network do not lock out the owner in another one. After 100 guesses at one
 * address, from any networks, all wait; a reset link by email still works.
 */
export const buildSignInLimits = (email: string, network: string): AttemptLimit[] => [
  { subject: `network:${network}`, max: 50 },
  { subject: buildPersonSubject(email, network), max: 10 },
  { subject: `person:${email}`, max: 100 },
]

export const buildPersonSubject = (email: string, network: string): string => `person:${email}:${network}`

/** Limits of password changes, each of which sends a mail to the address. */
export const buildChangeLimits = (email: string): AttemptLimit[] => [{ subject: `changed:${email}`, max: 5 }]

/** Limits of reset requests. */
export const buildResetLimits = (email: string, network: string): AttemptLimit[] => [
  { subject: `reset-network:${network}`, max: 20 },
  { subject: `reset:${email}`, max: 3 },
]

/** Limits of mailed invitations, which go to an address and contain a name that the inviter chose. */
export const buildInvitationLimits = (email: string, organizationId: string): AttemptLimit[] => [
  { subject: `invited:${email}`, max: 3 },
  { subject: `inviting:${organizationId}`, max: 30 },
]
