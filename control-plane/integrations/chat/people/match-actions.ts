import { type ChatApiResult, isRevoked } from '../../../alerting/channels/chat-api-response.ts'
import { encryptConfig } from '../../../alerting/channels/config/encrypted-config.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import { claimPeopleMatch, scheduleNextMatch } from '../installations/due-store.ts'
import type { StoredInstallation } from '../installations/installation.ts'
import { markRevoked } from '../installations/installation-store.ts'
import { getBotAuth } from '../provider/bot-token.ts'
import { toId, toRecord } from '../provider/field-values.ts'
import { callProvider } from '../provider/provider-reader.ts'
import { parsePerson } from './chat-person.ts'
import { linkPerson, type PeopleTools } from './people-actions.ts'
import {
  listMembersWithoutDirectChannel,
  listUnlinkedMembers,
  resumeDirectChannels,
  saveDirectChannel,
} from './people-store.ts'

/** Longer than one match can take. */
const LEASE_MS = 10 * 60_000
/** New members and new chat users are matched after this, or at their first command. */
const MATCH_INTERVAL_MS = 24 * 3_600_000
const RETRY_DELAY_MS = 5 * 60_000

type Refusal = Extract<ChatApiResult, { ok: false }>

/**
 * Checks one installation: whether the team still has the app (there may be no message for months), links members with
 * chat users by their email addresses, and opens a direct channel to each. Returns whether an installation was due.
 */
export async function matchPeople(tools: PeopleTools, now: Date): Promise<boolean> {
  const installation = await claimPeopleMatch(tools.db, LEASE_MS, now)
  if (!installation) return false
  const refusal =
    (await checkAppInstalled(tools, installation)) ??
    (await linkMembers(tools, installation, now)) ??
    (await openDirectChannels(tools, installation, now))
  if (refusal && isRevoked(refusal.reason)) await markRevoked(tools.db, installation, now)
  if (!refusal) await resumeDirectChannels(tools.db, installation.id, now)
  const waitMs = refusal ? Math.max(refusal.retryAfterMs ?? 0, RETRY_DELAY_MS) : MATCH_INTERVAL_MS
  await scheduleNextMatch(tools.db, installation, new Date(now.getTime() + waitMs))
  return true
}

/** Returns null while the team has the app, else the error. */
async function checkAppInstalled(
  { secrets, provider }: PeopleTools,
  installation: StoredInstallation,
): Promise<Refusal | null> {
  const answer = await callProvider(provider, 'auth.test', { as: getBotAuth(installation, secrets) })
  return answer.ok ? null : answer
}

/** Returns the error that stopped it early, or null. */
async function linkMembers(tools: PeopleTools, installation: StoredInstallation, now: Date): Promise<Refusal | null> {
  const { db, secrets, provider } = tools
  const { projectId, teamId } = installation
  const as = getBotAuth(installation, secrets)
  for (const { userId, email } of await listUnlinkedMembers(db, projectId, teamId)) {
    const answer = await callProvider(provider, 'users.lookupByEmail', { as, fields: { email } })
    if (!answer.ok && answer.reason !== 'users_not_found') return answer
    const person = answer.ok ? parsePerson(answer.fields, teamId) : null
    if (person?.email !== email) continue
    await linkPerson(db, installation, { chatUserId: person.chatUserId, userId }, now)
  }
  return null
}

async function openDirectChannels(
  tools: PeopleTools,
  installation: StoredInstallation,
  now: Date,
): Promise<Refusal | null> {
  const { db, secrets, provider } = tools
  const { id: installationId, projectId, teamId } = installation
  const as = getBotAuth(installation, secrets)
  for (const { userId, chatUserId } of await listMembersWithoutDirectChannel(db, projectId, teamId)) {
    const answer = await callProvider(provider, 'conversations.open', { as, fields: { users: chatUserId } })
    const channelId = answer.ok ? toId(toRecord(answer.fields.channel).id) : null
    if (!answer.ok && !PERSON_ERRORS.includes(answer.reason)) return answer
    if (channelId === null) continue
    const owner = { id: newId(), projectId }
    const config = encryptConfig({ installation_id: installationId, channel_id: channelId }, owner, secrets)
    await saveDirectChannel(db, { ...owner, config, installationId, userId, chatUserId }, now)
  }
  return null
}

/** Errors about one person, which do not stop the match of others. */
const PERSON_ERRORS = ['user_not_found', 'user_disabled', 'user_not_visible', 'users_not_found', 'cannot_dm_bot']
