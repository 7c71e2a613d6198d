import { isPassing } from '../channels/chat-answer.ts'
import type { Db } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { botOf } from './bot.ts'
import { deleteLinks, insertLink, linkedMember } from './identity-store.ts'
import type { StoredInstallation } from './installation.ts'
import { deleteDirectChannel, findMemberByEmail, type Member } from './people-store.ts'
import { readPerson } from './person.ts'
import { callProvider, type Provider } from './provider-reader.ts'
import { lookAtInstallation } from './store.ts'

export type PeopleTools = { db: Db; secrets: Secrets; provider: Provider }

/** Somebody waits for the answer, and the chat for ours. */
const PATIENCE_MS = 1_500

/**
 * The member that somebody in a team's chat is; whoever is not linked yet, or has another account in the chat now, is
 * looked for by their e-mail address. Null for whom nobody knows here, 'unasked' while the provider cannot be asked.
 */
export async function memberOf(
  { db, secrets, provider }: PeopleTools,
  installation: StoredInstallation,
  chatUserId: string,
  now: Date,
): Promise<Member | null | 'unasked'> {
  const { projectId, teamId, id } = installation
  const linked = await linkedMember(db, projectId, teamId, chatUserId)
  if (linked) return linked
  const asked = { as: botOf(installation, secrets), fields: { user: chatUserId }, timeoutMs: PATIENCE_MS }
  const answer = await callProvider(provider, 'users.info', asked)
  if (!answer.ok && isPassing(answer.reason)) return 'unasked'
  const person = answer.ok ? readPerson(answer.fields, teamId) : null
  const member = person?.chatUserId === chatUserId ? await findMemberByEmail(db, projectId, person.email) : null
  if (!member) return null
  await linkPerson(db, installation, { chatUserId, userId: member.userId }, now)
  await lookAtInstallation(db, id, now)
  return linkedMember(db, projectId, teamId, chatUserId)
}

type Pair = { chatUserId: string; userId: string }

/**
 * Links the two, whoever they were linked to before: the chat says now whose address this is. Ways in person that lead
 * to what was before are closed; the next round opens others.
 */
export async function linkPerson(
  db: Db,
  { id, projectId, teamId }: StoredInstallation,
  pair: Pair,
  now: Date,
): Promise<void> {
  const link = { projectId, teamId, ...pair }
  await db.transaction(async tx => {
    for (const userId of await deleteLinks(tx, link)) await deleteDirectChannel(tx, id, userId)
    await insertLink(tx, link, now)
  })
}
