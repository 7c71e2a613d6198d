import { toId, toRecord, toText } from '../provider/field-values.ts'

/** Somebody in a team's chat, as the provider vouches for them. */
export type ChatPerson = { chatUserId: string; email: string }

/**
 * Reads `users.info` or `users.lookupByEmail`; null for whoever must not be taken for a member by e-mail: a bot, somebody
 * who left, a guest of another team, an address that nobody confirmed.
 */
export function parsePerson(fields: Record<string, unknown>, teamId: string): ChatPerson | null {
  const user = toRecord(fields.user)
  const chatUserId = toId(user.id)
  const email = toText(toRecord(user.profile).email).toLowerCase()
  const isOfTeam = user.team_id === teamId && user.is_stranger !== true
  const isPerson = user.deleted !== true && user.is_bot !== true && user.is_email_confirmed !== false
  return chatUserId !== null && email.includes('@') && isOfTeam && isPerson ? { chatUserId, email } : null
}
