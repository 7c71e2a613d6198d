import { toId, toRecord, toText } from '../provider/field-values.ts'

/** A user of a team's chat with a confirmed email address. */
type ChatPerson = { chatUserId: string; email: string }

/**
 * Parses `users.info` or `users.lookupByEmail`. Returns null for users who must not be matched by email: bots, deleted
 * users, guests of other teams, and users with an unconfirmed address.
 */
export function parsePerson(fields: Record<string, unknown>, teamId: string): ChatPerson | null {
  const user = toRecord(fields.user)
  const chatUserId = toId(user.id)
  const email = toText(toRecord(user.profile).email).toLowerCase()
  const isOfTeam = user.team_id === teamId && user.is_stranger !== true
  const isPerson = user.deleted !== true && user.is_bot !== true && user.is_email_confirmed !== false
  return chatUserId !== null && email.includes('@') && isOfTeam && isPerson ? { chatUserId, email } : null
}
