import { isTransient } from '../../../alerting/channels/chat-api-response.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import type { StoredInstallation } from '../installations/installation.ts'
import { scheduleInstallationCheck } from '../installations/installation-store.ts'
import { getBotAuth } from '../provider/bot-token.ts'
import { callProvider, type Provider } from '../provider/provider-reader.ts'
import { parsePerson } from './chat-person.ts'
import { deleteLinks, findLinkedMember, insertLink } from './identity-store.ts'
import { deleteDirectChannel, findMemberByEmail, type Member } from './people-store.ts'

export type PeopleTools = { db: Db; secrets: SecretCipher; provider: Provider }

/** Somebody waits for the answer, and the chat for ours. */
const LOOKUP_TIMEOUT_MS = 1_500

/**
 * The member that somebody in a team's chat is; whoever is not linked yet, or has another account in the chat now, is
 * looked for by their e-mail address. Null for whom nobody knows here, 'unasked' while the provider cannot be asked.
 */
export async function findChatMember(
  { db, secrets, provider }: PeopleTools,
  installation: StoredInstallation,
  chatUserId: string,
  now: Date,
): Promise<Member | null | 'unasked'> {
  const { projectId, teamId, id } = installation
  const linked = await findLinkedMember(db, projectId, teamId, chatUserId)
  if (linked) return linked
  const asked = { as: getBotAuth(installation, secrets), fields: { user: chatUserId }, timeoutMs: LOOKUP_TIMEOUT_MS }
  const answer = await callProvider(provider, 'users.info', asked)
  if (!answer.ok && isTransient(answer.reason)) return 'unasked'
  const person = answer.ok ? parsePerson(answer.fields, teamId) : null
  const member = person?.chatUserId === chatUserId ? await findMemberByEmail(db, projectId, person.email) : null
  if (!member) return null
  await linkPerson(db, installation, { chatUserId, userId: member.userId }, now)
  await scheduleInstallationCheck(db, id, now)
  return findLinkedMember(db, projectId, teamId, chatUserId)
}

type IdentityPair = { chatUserId: string; userId: string }

/**
 * Links the two, whoever they were linked to before: the chat says now whose address this is. Ways in person that lead
 * to what was before are closed; the next round opens others.
 */
export async function linkPerson(
  db: Db,
  { id, projectId, teamId }: StoredInstallation,
  pair: IdentityPair,
  now: Date,
): Promise<void> {
  const link = { projectId, teamId, ...pair }
  await db.transaction(async tx => {
    for (const userId of await deleteLinks(tx, link)) await deleteDirectChannel(tx, id, userId)
    await insertLink(tx, link, now)
  })
}
