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

/** Short, because the chat waits for a response. */
const LOOKUP_TIMEOUT_MS = 1_500

/**
 * Finds the member for a chat user. Without a link, for example after a change of the chat account, it is found by
 * email address. Returns null when there is no such member, and 'unavailable' when the provider cannot be reached.
 */
export async function findChatMember(
  { db, secrets, provider }: PeopleTools,
  installation: StoredInstallation,
  chatUserId: string,
  now: Date,
): Promise<Member | null | 'unavailable'> {
  const { projectId, teamId, id } = installation
  const linked = await findLinkedMember(db, projectId, teamId, chatUserId)
  if (linked) return linked
  const call = { as: getBotAuth(installation, secrets), fields: { user: chatUserId }, timeoutMs: LOOKUP_TIMEOUT_MS }
  const answer = await callProvider(provider, 'users.info', call)
  if (!answer.ok && isTransient(answer.reason)) return 'unavailable'
  const person = answer.ok ? parsePerson(answer.fields, teamId) : null
  const member = person?.chatUserId === chatUserId ? await findMemberByEmail(db, projectId, person.email) : null
  if (!member) return null
  await linkPerson(db, installation, { chatUserId, userId: member.userId }, now)
  await scheduleInstallationCheck(db, id, now)
  return findLinkedMember(db, projectId, teamId, chatUserId)
}

type IdentityPair = { chatUserId: string; userId: string }

/**
 * Links a chat user with a member and replaces earlier links of both, because the chat knows the current owner of the
 * address. Deletes the direct channels of replaced links; the next match opens new ones.
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
