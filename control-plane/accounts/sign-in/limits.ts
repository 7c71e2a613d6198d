import type { Limited } from './attempt-store.ts'

/**
 * Who guesses one person's password, and from where: guesses from one network do not shut out the person's own. After 100
 * from many networks everybody waits; a link by mail works even then.
 */
export const signInLimits = (email: string, network: string): Limited[] => [
  { subject: `network:${network}`, most: 50 },
  { subject: personHere(email, network), most: 10 },
  { subject: `person:${email}`, most: 100 },
]

export const personHere = (email: string, network: string): string => `person:${email}:${network}`

/** Mails to one address, and how many of them one network may ask for. */
export const resetLimits = (email: string, network: string): Limited[] => [
  { subject: `reset-network:${network}`, most: 20 },
  { subject: `reset:${email}`, most: 3 },
]

/** Mails in which somebody's words stand, to an address that somebody names. */
export const invitationLimits = (email: string, organizationId: string): Limited[] => [
  { subject: `invited:${email}`, most: 3 },
  { subject: `inviting:${organizationId}`, most: 30 },
]
