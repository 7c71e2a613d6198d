import { type ChatAnswer, isRevoked } from '../channels/chat-answer.ts'
import { sealConfig } from '../channels/sealed.ts'
import { newId } from '../platform/ids.ts'
import { botOf } from './bot.ts'
import { claimPeople } from './due-store.ts'
import type { StoredInstallation } from './installation.ts'
import { linkPerson, type PeopleTools } from './people-actions.ts'
import { insertDirectChannel, resumeDirectChannels, unlinkedMembers, unreachedPeople } from './people-store.ts'
import { readPerson } from './person.ts'
import { callProvider } from './provider-reader.ts'
import { markRevoked, postponePeople } from './store.ts'
import { recordOf, wordOf } from './words.ts'

/** Longer than a round may take. */
const LEASE_MS = 10 * 60_000
/** Who becomes a member, or gets an account in the chat, is found after this, or at their first command. */
const AGAIN_MS = 24 * 3_600_000
const AFTER_TROUBLE_MS = 5 * 60_000

type Refusal = Extract<ChatAnswer, { ok: false }>

/**
 * Looks at an installation: whether the team has the app still, as no message may need it for months; links members to
 * whom they are in its chat, by their e-mail addresses; and opens a way to each of them. Answers whether there was a
 * team to be looked at.
 */
export async function matchPeople(tools: PeopleTools, now: Date): Promise<boolean> {
  const leaseEnd = new Date(now.getTime() + LEASE_MS)
  const installation = await claimPeople(tools.db, leaseEnd, now)
  if (!installation) return false
  const refusal =
    (await askForApp(tools, installation)) ??
    (await linkMembers(tools, installation, now)) ??
    (await reachPeople(tools, installation, now))
  if (refusal && isRevoked(refusal.reason)) await markRevoked(tools.db, installation.id, installation.tokens, now)
  if (!refusal) await resumeDirectChannels(tools.db, installation.id, now)
  const waitMs = refusal ? Math.max(refusal.retryAfterMs ?? 0, AFTER_TROUBLE_MS) : AGAIN_MS
  await postponePeople(tools.db, installation.id, leaseEnd, new Date(now.getTime() + waitMs))
  return true
}

/** Null while the team has the app. */
async function askForApp(
  { secrets, provider }: PeopleTools,
  installation: StoredInstallation,
): Promise<Refusal | null> {
  const answer = await callProvider(provider, 'auth.test', { as: botOf(installation, secrets) })
  return answer.ok ? null : answer
}

/** Answers the refusal that ended it early; null at its end. */
async function linkMembers(tools: PeopleTools, installation: StoredInstallation, now: Date): Promise<Refusal | null> {
  const { db, secrets, provider } = tools
  const { projectId, teamId } = installation
  const as = botOf(installation, secrets)
  for (const { userId, email } of await unlinkedMembers(db, projectId, teamId)) {
    const answer = await callProvider(provider, 'users.lookupByEmail', { as, fields: { email } })
    if (!answer.ok && answer.reason !== 'users_not_found') return answer
    const person = answer.ok ? readPerson(answer.fields, teamId) : null
    if (person?.email !== email) continue
    await linkPerson(db, installation, { chatUserId: person.chatUserId, userId }, now)
  }
  return null
}

async function reachPeople(tools: PeopleTools, installation: StoredInstallation, now: Date): Promise<Refusal | null> {
  const { db, secrets, provider } = tools
  const { id: installationId, projectId, teamId } = installation
  const as = botOf(installation, secrets)
  for (const { userId, chatUserId } of await unreachedPeople(db, projectId, teamId)) {
    const answer = await callProvider(provider, 'conversations.open', { as, fields: { users: chatUserId } })
    const channelId = answer.ok ? wordOf(recordOf(answer.fields.channel).id) : null
    if (!answer.ok && !OF_ONE_PERSON.includes(answer.reason)) return answer
    if (channelId === null) continue
    const owner = { id: newId(), projectId }
    const config = sealConfig({ installation_id: installationId, channel_id: channelId }, owner, secrets)
    await insertDirectChannel(db, { ...owner, config, installationId, userId }, now)
  }
  return null
}

/** Says nothing about the others. */
const OF_ONE_PERSON = ['user_not_found', 'user_disabled', 'user_not_visible', 'users_not_found', 'cannot_dm_bot']
