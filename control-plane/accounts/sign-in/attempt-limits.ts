import type { AttemptLimit } from './attempt-store.ts'

/** Visitors choose some parts. As JSON, different parts never have the same text. */
const toSubject = (...parts: string[]): string => JSON.stringify(parts)

/** Accepts every address that an account can have, and more. */
const isAddress = (text: string): boolean => /^[^\s@]+@[^\s@]+$/.test(text)

/**
 * Limits of failed sign-ins. Guesses from one network do not lock out the owner in another one. After 100 guesses at one
 * address, from any networks, all wait; a reset link by email still works. A text that cannot be the address of an account
 * counts for the network only.
 */
export function buildSignInLimits(email: string, network: string): AttemptLimit[] {
  const ofNetwork = { subject: toSubject('network', network), max: 50 }
  if (!isAddress(email)) return [ofNetwork]
  return [
    ofNetwork,
    { subject: buildPersonSubject(email, network), max: 10 },
    { subject: toSubject('person', email), max: 100 },
  ]
}

export const buildPersonSubject = (email: string, network: string): string => toSubject('person', email, network)

/** Limits of password changes, each of which sends a mail to the address. */
export const buildChangeLimits = (email: string): AttemptLimit[] => [{ subject: toSubject('changed', email), max: 5 }]

/** Limits of reset requests. */
export const buildResetLimits = (email: string, network: string): AttemptLimit[] => [
  { subject: toSubject('reset-network', network), max: 20 },
  { subject: toSubject('reset', email), max: 3 },
]

/** Limits of mailed invitations, which go to an address and contain a name that the inviter chose. */
export const buildInvitationLimits = (email: string, organizationId: string): AttemptLimit[] => [
  { subject: toSubject('invited', email), max: 3 },
  { subject: toSubject('inviting', organizationId), max: 30 },
]
