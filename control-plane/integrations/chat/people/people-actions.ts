import { isTransient } from '../../../alerting/channels/chat-api-response.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { isId } from '../../../foundation/platform/ids.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { found } from '../../../foundation/web/server/errors.ts'
import type { StoredInstallation } from '../installations/installation.ts'
import { listTeamInstallations, scheduleInstallationCheck } from '../installations/installation-store.ts'
import { getBotAuth } from '../provider/bot-token.ts'
import { callProvider, type Provider } from '../provider/provider-reader.ts'
import { parsePerson } from './chat-person.ts'
import { deleteLinks, findLinkedMember, insertLink, isDisconnected, updateConnected } from './identity-store.ts'
import { deleteDirectChannel, deleteDirectChannelInTeam, findMemberByEmail, type Member } from './people-store.ts'

export type PeopleTools = { db: Db; secrets: SecretCipher; provider: Provider }

/** Why a chat user is not a member; `unavailable`: the provider cannot be reached. */
export type MemberRefusal = 'no_member' | 'disconnected' | 'unavailable'

/** Short, because the chat waits for a response. */
const LOOKUP_TIMEOUT_MS = 1_500

/**
 * Finds the member for a chat user. Without a link, for example after a change of the chat account, it is found by
 * email address. Otherwise returns why there is none.
 */
export async function findChatMember(
  { db, secrets, provider }: PeopleTools,
  installation: StoredInstallation,
  chatUserId: string,
  now: Date,
): Promise<Member | MemberRefusal> {
  const { projectId, teamId, id } = installation
  const linked = await findLinkedMember(db, projectId, teamId, chatUserId)
  if (linked) return linked
  if (await isDisconnected(db, { projectId, teamId, chatUserId, userId: null })) return 'disconnected'
  const call = { as: getBotAuth(installation, secrets), fields: { user: chatUserId }, timeoutMs: LOOKUP_TIMEOUT_MS }
  const answer = await callProvider(provider, 'users.info', call)
  if (!answer.ok && isTransient(answer.reason)) return 'unavailable'
  const person = answer.ok ? parsePerson(answer.fields, teamId) : null
  const member = person?.chatUserId === chatUserId ? await findMemberByEmail(db, projectId, person.email) : null
  if (!member) return 'no_member'
  if (!(await linkPerson(db, installation, { chatUserId, userId: member.userId }, now))) return 'disconnected'
  await scheduleInstallationCheck(db, id, now)
  return (await findLinkedMember(db, projectId, teamId, chatUserId)) ?? 'no_member'
}

type IdentityPair = { chatUserId: string; userId: string }

/**
 * Links a chat user with a member and replaces earlier links of both, because the chat knows the current owner of the
 * address. Deletes the direct channels of replaced links; the next match opens new ones. Returns false, without a change,
 * when one of the two was disconnected.
 */
export async function linkPerson(
  db: Db,
  { id, projectId, teamId }: StoredInstallation,
  pair: IdentityPair,
  now: Date,
): Promise<boolean> {
  const link = { projectId, teamId, ...pair }
  return db.transaction(async tx => {
    if (await isDisconnected(tx, link)) return false
    for (const userId of await deleteLinks(tx, link)) await deleteDirectChannel(tx, id, userId)
    await insertLink(tx, link, now)
    return true
  })
}

/**
 * Connects or disconnects a chat user and a member, and returns the link. A disconnected person has no direct channel and is
 * not matched again; after connecting, the next match, which is due immediately, opens the channel. Throws 404.
 */
export async function setConnected(
  db: Db,
  { projectId, id, isConnected }: { projectId: string; id: string; isConnected: boolean },
  now: Date,
) {
  const identity = await db.transaction(async tx => {
    const row = found(isId(id) && (await updateConnected(tx, { projectId, id, isConnected }, now)), 'chat identity')
    const { team_id: teamId, user_id: userId } = row
    if (!isConnected) await deleteDirectChannelInTeam(tx, { projectId, teamId, userId })
    return row
  })
  const installations = isConnected ? await listTeamInstallations(db, identity.team_id) : []
  const active = installations.find(one => one.projectId === projectId && one.revokedAt === null)
  if (active) await scheduleInstallationCheck(db, active.id, now)
  return identity
}
