import { isDeepStrictEqual } from 'node:util'
import { assertWithinLimit } from '../accounts/actions.ts'
import { type AddressTools, askAddresses } from '../accounts/addresses/actions.ts'
import { addressKey } from '../accounts/addresses/address.ts'
import { endTrust, trustedChannels } from '../accounts/addresses/store.ts'
import type { Limits } from '../accounts/plans.ts'
import { hostUnderLoad } from '../channels/destination.ts'
import { type ChannelType, kindOf } from '../channels/index.ts'
import { openConfig, sealConfig, sealSigningSecret } from '../channels/sealed.ts'
import { enqueueDeliveries } from '../deliveries/actions.ts'
import { insertEvents } from '../events/store.ts'
import { isId, newId, randomToken } from '../platform/ids.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { assertMayLead, type Caller } from '../web/auth.ts'
import { conflict, notFound, tierLimitReached, validationError } from '../web/errors.ts'
import { isSameOrigin } from '../web/origin.ts'
import { acceptConfig, type ConfigTools, maskedPlaces } from './channel-config.ts'
import {
  allChannels,
  holdChatInstallation,
  insertChannel,
  lockChannel,
  lockHosts,
  type StoredChannel,
  updateChannel,
} from './channel-store.ts'
import { bindRelaySource, releaseRelaySource } from './relay-source-store.ts'
import type { ChannelCreate, ChannelUpdate } from './schema.ts'
import { testEvent } from './test-event.ts'

export type ChannelTools = ConfigTools & {
  db: Db
  secrets: Secrets
  limits: Limits
  relayUrl: string | null
  /** takes the addresses that are to be asked, for a caller that asks them at the end of its transaction; left out: they are asked at once */
  askLater?: (addresses: string[]) => void
} & Omit<AddressTools, 'secrets'>
type Owner = Pick<Caller, 'projectId' | 'organizationId'>
/** `signingSecret`: in plain text, to be shown this once; null when there is none or it did not change. */
export type Shown = { channel: StoredChannel; signingSecret: string | null }

/**
 * Throws 400 for a config that its kind refuses, 404 for an installation that the project does not have, 402 when the
 * plan is full, and 429 when too many addresses would be asked to confirm. Addresses that are not confirmed are asked.
 */
export async function createChannel(tools: ChannelTools, caller: Owner, body: ChannelCreate, now: Date) {
  const { db, secrets, limits } = tools
  const { projectId, organizationId } = caller
  const { type } = body
  const { config, problems } = acceptConfig(type, body.config, null, tools)
  if (problems.length > 0) throw validationError(problems)
  const chatInstallationId = installationOf(type, config)
  const owner = { id: newId(), projectId }
  const signingSecret = kindOf(type).isSigned ? newSigningSecret() : null
  const channel: StoredChannel = {
    ...owner,
    name: body.name,
    type,
    config: sealConfig(config, owner, secrets),
    signingSecret: signingSecret === null ? null : sealSigningSecret(signingSecret, owner, secrets),
    chatInstallationId,
    isDefault: body.is_default ?? false,
    isPaused: false,
    pausedAt: null,
    pausedReason: null,
    consecutiveFailures: 0,
    createdAt: now,
    updatedAt: now,
  }
  await db.transaction(async tx => {
    await assertWithinLimit(tx, organizationId, 'alertChannels', 1, limits)
    await lockHosts(tx, projectId)
    await assertFewToHost(tx, tools, channel)
    await holdInstallation(tx, channel)
    await insertChannel(tx, channel)
    await bindRelay(tx, tools, channel, config)
    await askNew(tx, tools, organizationId, recipientsOf(type, config), now)
  })
  return { channel, signingSecret } satisfies Shown
}

/**
 * Changes what the body names. Throws 404, 400 for another type or a config that the kind refuses, 403 where stored
 * secrets would go to another origin (assertMayLead), and 429 when too many addresses would be asked to confirm.
 */
export function changeChannel(tools: ChannelTools, caller: Caller, id: string, body: ChannelUpdate, now: Date) {
  const { db, secrets } = tools
  const { organizationId, projectId } = caller
  const change = async (before: StoredChannel, tx: Tx) => {
    if (body.type !== undefined && body.type !== before.type) {
      throw validationError([{ path: 'type', message: 'the type of a channel cannot be changed; create another one' }])
    }
    const after = { ...before, name: body.name ?? before.name, isDefault: body.is_default ?? before.isDefault }
    if (body.config === undefined) return after
    const stored = openConfig(before, secrets)
    const { config, problems } = acceptConfig(before.type, body.config, stored, tools)
    if (problems.length > 0) throw validationError(problems)
    if (!isSameDestination(before.type, stored, config)) assertMayLead(caller, maskedPlaces(body.config, 'config'))
    // sealed again, the same config would be reported as changed
    if (isDeepStrictEqual(stored, config)) return after
    await bindRelay(tx, tools, before, config)
    const chatInstallationId = installationOf(before.type, config)
    const changed = { ...after, config: sealConfig(config, before, secrets), chatInstallationId }
    if (hostOf(before, secrets) !== hostOf(changed, secrets)) await assertFewToHost(tx, tools, changed)
    await endTrust(tx, organizationId, id, recipientsOf(before.type, stored).map(addressKey), now)
    await askNew(tx, tools, organizationId, recipientsOf(before.type, config), now)
    return changed
  }
  return rewrite(db, projectId, id, now, change, async tx => {
    if (body.config !== undefined) await lockHosts(tx, projectId)
  })
}

const askNew = async (tx: Tx, tools: ChannelTools, organizationId: string, addresses: string[], now: Date) =>
  tools.askLater
    ? tools.askLater(addresses)
    : await askAddresses(tx, tools, organizationId, addresses, { again: false, now })

/** Gives the channel a new signing secret; what is signed from now on is signed with it. Throws 404, 409 if none is. */
export async function rotateSecret(
  { db, secrets }: Pick<ChannelTools, 'db' | 'secrets'>,
  projectId: string,
  id: string,
  now: Date,
): Promise<Shown> {
  const signingSecret = newSigningSecret()
  const channel = await rewrite(db, projectId, id, now, async before => {
    if (before.signingSecret === null) throw conflict(`a channel of type ${before.type} has no signing secret`)
    return { ...before, signingSecret: sealSigningSecret(signingSecret, before, secrets) }
  })
  return { channel, signingSecret }
}

/** Makes a paused channel active; one that is active stays so. Throws 404. */
export function resumeChannel(db: Db, projectId: string, id: string, now: Date): Promise<StoredChannel> {
  const active = { isPaused: false, pausedAt: null, pausedReason: null, consecutiveFailures: 0 }
  return rewrite(db, projectId, id, now, async before => ({ ...before, ...active }))
}

/**
 * Queues a test event for one channel and answers the delivery's id. Addresses that are not confirmed are sent another
 * confirmation instead. Throws 404, 409 while the channel is paused, and 429 beyond a limit of confirmations.
 */
export async function sendTest(
  tools: Pick<ChannelTools, 'db' | 'secrets' | 'publicUrl' | 'sendsMail' | 'mailRules'>,
  { projectId, organizationId }: Owner,
  id: string,
  now: Date,
): Promise<string> {
  const { db, secrets, publicUrl } = tools
  return await db.transaction(async tx => {
    const channel = isId(id) ? await lockChannel(tx, projectId, id) : null
    if (!channel) throw notFound('channel')
    if (channel.isPaused) throw conflict('the channel is paused; resume it before testing it')
    const event = testEvent(channel, { id: newId(), publicUrl, now })
    await insertEvents(tx, [event])
    const delivery = { projectId, channelId: id, eventId: event.id, eventName: event.name, subject: event.subject }
    const [deliveryId = ''] = await enqueueDeliveries(tx, [delivery], now)
    const isTrusted = (await trustedChannels(tx, [id])).size > 0
    const recipients = isTrusted ? [] : recipientsOf(channel.type, openConfig(channel, secrets))
    await askAddresses(tx, tools, organizationId, recipients, { again: true, now })
    return deliveryId
  })
}

async function rewrite(
  db: Db,
  projectId: string,
  id: string,
  now: Date,
  change: (before: StoredChannel, tx: Tx) => Promise<StoredChannel>,
  first: (tx: Tx) => Promise<unknown> = async () => {},
): Promise<StoredChannel> {
  return await db.transaction(async tx => {
    await first(tx)
    const stored = isId(id) ? await lockChannel(tx, projectId, id) : null
    if (!stored) throw notFound('channel')
    const changed = await change(stored, tx)
    const channel = { ...changed, updatedAt: isDeepStrictEqual(changed, stored) ? stored.updatedAt : now }
    if (channel.chatInstallationId !== stored.chatInstallationId) await holdInstallation(tx, channel)
    await updateChannel(tx, channel)
    return channel
  })
}

/** Whether messages reach whom they reached. The relay outside gets them whole, so another id there is another destination. */
function isSameDestination(
  type: ChannelType,
  stored: Record<string, unknown>,
  config: Record<string, unknown>,
): boolean {
  const { addressOf, relayOf } = kindOf(type)
  const isSameRelay = (relayOf?.(stored) ?? null) === (relayOf?.(config) ?? null)
  return isSameRelay && isSameOrigin(addressOf(stored), addressOf(config))
}

/**
 * Throws 409 for an id that a channel of another project has at the relay outside: its messages would reach that project's
 * receivers. The built-in relay knows projects apart, and ids mean nothing to it.
 */
async function bindRelay(
  tx: Tx,
  { relayUrl }: Pick<ChannelTools, 'relayUrl'>,
  { id, projectId, type }: StoredChannel,
  config: Record<string, unknown>,
): Promise<void> {
  const relaySourceId = kindOf(type).relayOf?.(config) ?? null
  if (relaySourceId === null) return releaseRelaySource(tx, id)
  const isFree = await bindRelaySource(tx, { channelId: id, projectId, relaySourceId }, relayUrl !== null)
  if (!isFree) throw conflict('this relay_source_id belongs to another project')
}

/** The app's installation that a config names, in lower case; null when there is none. */
const installationOf = (type: ChannelType, config: Record<string, unknown>) =>
  kindOf(type).installationOf?.(config)?.toLowerCase() ?? null

/** Throws 402 when a project has too many channels whose requests go to one host. The project's hosts are locked. */
async function assertFewToHost(
  tx: Tx,
  { secrets, limits }: Pick<ChannelTools, 'secrets' | 'limits'>,
  channel: StoredChannel,
): Promise<void> {
  const host = hostOf(channel, secrets)
  if (host === null) return
  const others = (await allChannels(tx, channel.projectId)).filter(({ id }) => id !== channel.id)
  const used = others.filter(other => hostOf(other, secrets) === host).length
  if (used < limits.channelsPerHost) return
  throw tierLimitReached(
    `a project has at most ${limits.channelsPerHost} channels that lead to ${host}, and has ${used}`,
  )
}

const hostOf = (channel: StoredChannel, secrets: Secrets) =>
  hostUnderLoad(kindOf(channel.type).addressOf(openConfig(channel, secrets)))

const recipientsOf = (type: ChannelType, config: Record<string, unknown>) => kindOf(type).recipientsOf?.(config) ?? []

async function holdInstallation(tx: Tx, { projectId, chatInstallationId: id }: StoredChannel): Promise<void> {
  if (id === null) return
  if (!isId(id) || !(await holdChatInstallation(tx, projectId, id))) throw notFound('chat installation')
}

/** `whsec_` and 32 random bytes in base64, as Standard Webhooks wants them (decisions 6.5). */
function newSigningSecret(): string {
  return `whsec_${Buffer.from(randomToken(32), 'base64url').toString('base64')}`
}
