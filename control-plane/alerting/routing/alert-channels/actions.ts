import { isDeepStrictEqual } from 'node:util'
import { type AddressTools, requestConfirmations } from '../../../accounts/email/confirmation/actions.ts'
import { normalizeAddress } from '../../../accounts/email/confirmation/address.ts'
import { endChannelTrust, listTrustedChannelIds } from '../../../accounts/email/confirmation/store.ts'
import { assertWithinLimit } from '../../../accounts/plans/actions.ts'
import type { InstallationLimits } from '../../../accounts/plans/plans.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { isId, newId, randomToken } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { type ApiCaller, assertMayRedirectSecrets } from '../../../foundation/web/auth/authentication.ts'
import { assertRequestVersion } from '../../../foundation/web/conditions/version-actions.ts'
import { isSameOrigin } from '../../../foundation/web/masked-secrets/same-origin.ts'
import { conflict, found, notFound, tierLimitReached, validationError } from '../../../foundation/web/server/errors.ts'
import { decryptConfig, encryptConfig, encryptSigningSecret } from '../../channels/config/encrypted-config.ts'
import { findReceiverHost } from '../../channels/config/receiver-host.ts'
import { type ChannelType, getChannelKind } from '../../channels/registry.ts'
import { enqueueDeliveries } from '../../deliveries/queue/enqueue-actions.ts'
import { insertEvents } from '../../events/store.ts'
import type { ChannelCreate, ChannelUpdate } from '../schemas.ts'
import { type ConfigTools, listMaskedPaths, resolveConfig } from './config.ts'
import { bindRelaySource, releaseRelaySource } from './relay-source-store.ts'
import {
  holdChannel,
  holdChatInstallation,
  insertChannel,
  listAllChannels,
  lockChannel,
  lockHosts,
  type StoredChannel,
  updateChannel,
} from './store.ts'
import { buildTestEvent } from './test-event.ts'

type ChannelTools = ConfigTools & {
  db: Db
  secrets: SecretCipher
  limits: InstallationLimits
  relayUrl: string | null
  /** receives the addresses to confirm, for a caller that requests confirmations at the end of its transaction; undefined: they are requested immediately */
  askLater?: (addresses: string[]) => void
} & Omit<AddressTools, 'secrets'>
type Owner = Pick<ApiCaller, 'projectId' | 'organizationId'>
/** `signingSecret`: in plain text, shown only in this response; null when there is none or it did not change. */
type ChannelWithSecret = { channel: StoredChannel; signingSecret: string | null }

/**
 * Creates a channel. Unconfirmed addresses are sent a confirmation. Throws 400 for an invalid config, 404 for an unknown
 * chat installation, 402 beyond a limit of the plan or of channels to one host, 409 for a relay source of another project,
 * and 429 beyond a limit of confirmations.
 */
export async function createChannel(tools: ChannelTools, caller: Owner, body: ChannelCreate, now: Date) {
  const { db, secrets, limits } = tools
  const { projectId, organizationId } = caller
  const { type } = body
  const { config, problems } = resolveConfig(type, body.config, null, tools)
  if (problems.length > 0) throw validationError(problems)
  const chatInstallationId = getChatInstallationId(type, config)
  const owner = { id: newId(), projectId }
  const signingSecret = getChannelKind(type).isSigned ? newSigningSecret() : null
  const channel: StoredChannel = {
    ...owner,
    name: body.name,
    type,
    config: encryptConfig(config, owner, secrets),
    signingSecret: signingSecret === null ? null : encryptSigningSecret(signingSecret, owner, secrets),
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
    await holdInstallation(tx, channel)
    await assertWithinLimit(tx, organizationId, 'alertChannels', 1, limits)
    await lockHosts(tx, projectId)
    await assertHostLimit(tx, tools, channel)
    await insertChannel(tx, channel)
    await bindRelay(tx, tools, channel, config)
    await requestNewConfirmations(tx, tools, organizationId, listMailRecipients(type, config), now)
  })
  return { channel, signingSecret } satisfies ChannelWithSecret
}

/**
 * Changes the given fields of a channel. Throws 404, 400 for another type or an invalid config, 403 when stored secrets
 * would be sent to another origin (assertMayRedirectSecrets), 402, 409 and 429 as createChannel does.
 */
export function changeChannel(tools: ChannelTools, caller: ApiCaller, id: string, body: ChannelUpdate, now: Date) {
  const { db, secrets } = tools
  const { organizationId, projectId } = caller
  const change = async (before: StoredChannel, tx: Tx) => {
    if (body.type !== undefined && body.type !== before.type) {
      throw validationError([
        { path: 'type', message: 'the type of a channel cannot be changed; create another channel' },
      ])
    }
    const after = { ...before, name: body.name ?? before.name, isDefault: body.is_default ?? before.isDefault }
    if (body.config === undefined) return after
    const stored = decryptConfig(before, secrets)
    const { config, problems } = resolveConfig(before.type, body.config, stored, tools)
    if (problems.length > 0) throw validationError(problems)
    if (!isSameDestination(before.type, stored, config))
      assertMayRedirectSecrets(caller, listMaskedPaths(body.config, 'config'))
    // an unchanged config would be reported as changed if it were encrypted again
    if (isDeepStrictEqual(stored, config)) return after
    const chatInstallationId = getChatInstallationId(before.type, config)
    const changed = { ...after, config: encryptConfig(config, before, secrets), chatInstallationId }
    if (chatInstallationId !== before.chatInstallationId) await holdInstallation(tx, changed)
    if (getChannelHost(before, secrets) !== getChannelHost(changed, secrets)) await assertHostLimit(tx, tools, changed)
    await bindRelay(tx, tools, before, config)
    await endChannelTrust(tx, organizationId, id, listMailRecipients(before.type, stored).map(normalizeAddress), now)
    await requestNewConfirmations(tx, tools, organizationId, listMailRecipients(before.type, config), now)
    return changed
  }
  return changeLockedChannel(db, projectId, id, now, change, async tx => {
    if (body.config !== undefined) await lockHosts(tx, projectId)
  })
}

const requestNewConfirmations = async (
  tx: Tx,
  tools: ChannelTools,
  organizationId: string,
  addresses: string[],
  now: Date,
) =>
  tools.askLater
    ? tools.askLater(addresses)
    : await requestConfirmations(tx, tools, organizationId, addresses, { again: false, now })

/** Gives the channel a new signing secret, which signs every later attempt. Throws 404, and 409 when the type does not sign. */
export async function rotateSecret(
  { db, secrets }: Pick<ChannelTools, 'db' | 'secrets'>,
  projectId: string,
  id: string,
  now: Date,
): Promise<ChannelWithSecret> {
  const signingSecret = newSigningSecret()
  const channel = await changeLockedChannel(db, projectId, id, now, async before => {
    if (before.signingSecret === null) throw conflict(`a channel of type ${before.type} has no signing secret`)
    return { ...before, signingSecret: encryptSigningSecret(signingSecret, before, secrets) }
  })
  return { channel, signingSecret }
}

/** Makes a paused channel active. Does nothing when it is active. Throws 404. */
export function resumeChannel(db: Db, projectId: string, id: string, now: Date): Promise<StoredChannel> {
  const active = { isPaused: false, pausedAt: null, pausedReason: null, consecutiveFailures: 0 }
  return changeLockedChannel(db, projectId, id, now, async before => ({ ...before, ...active }))
}

/**
 * Queues a test event for one channel and returns the id of the delivery. Unconfirmed addresses are sent another
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
    const channel = found(isId(id) && (await holdChannel(tx, projectId, id)), 'channel')
    if (channel.isPaused) throw conflict('the channel is paused; resume it before testing it')
    const event = buildTestEvent(channel, { id: newId(), publicUrl, now })
    await insertEvents(tx, [event])
    const delivery = { projectId, channelId: id, eventId: event.id, eventName: event.name, subject: event.subject }
    const [deliveryId = ''] = await enqueueDeliveries(tx, [delivery], now)
    const isTrusted = (await listTrustedChannelIds(tx, [id])).size > 0
    const recipients = isTrusted ? [] : listMailRecipients(channel.type, decryptConfig(channel, secrets))
    await requestConfirmations(tx, tools, organizationId, recipients, { again: true, now })
    return deliveryId
  })
}

async function changeLockedChannel(
  db: Db,
  projectId: string,
  id: string,
  now: Date,
  change: (before: StoredChannel, tx: Tx) => Promise<StoredChannel>,
  first: (tx: Tx) => Promise<unknown> = async () => {},
): Promise<StoredChannel> {
  return await db.transaction(async tx => {
    await first(tx)
    const stored = found(isId(id) && (await lockChannel(tx, projectId, id)), 'channel')
    await assertRequestVersion(tx)
    const changed = await change(stored, tx)
    const channel = { ...changed, updatedAt: isDeepStrictEqual(changed, stored) ? stored.updatedAt : now }
    await updateChannel(tx, channel)
    return channel
  })
}

/** True when messages go to the same origin and relay source. An external relay gets the whole message, so another id is another destination. */
function isSameDestination(
  type: ChannelType,
  stored: Record<string, unknown>,
  config: Record<string, unknown>,
): boolean {
  const { getAddress, getRelayId } = getChannelKind(type)
  const isSameRelay = (getRelayId?.(stored) ?? null) === (getRelayId?.(config) ?? null)
  return isSameRelay && isSameOrigin(getAddress(stored), getAddress(config))
}

/**
 * Binds the channel's `relay_source_id` to its project. With an external relay it throws 409 when the id belongs to another
 * project, whose receivers would get the messages. The built-in relay keeps projects apart and does not use the id.
 */
async function bindRelay(
  tx: Tx,
  { relayUrl }: Pick<ChannelTools, 'relayUrl'>,
  { id, projectId, type }: StoredChannel,
  config: Record<string, unknown>,
): Promise<void> {
  const relaySourceId = getChannelKind(type).getRelayId?.(config) ?? null
  if (relaySourceId === null) return releaseRelaySource(tx, id)
  const isFree = await bindRelaySource(tx, { channelId: id, projectId, relaySourceId }, relayUrl !== null)
  if (!isFree) throw conflict('this relay_source_id belongs to another project')
}

/** The chat installation in a config, in lower case; null when there is none. */
export const getChatInstallationId = (type: ChannelType, config: Record<string, unknown>) =>
  getChannelKind(type).getInstallationId?.(config)?.toLowerCase() ?? null

/** Throws 402 when a project has too many channels to one host. The caller holds the lock of the project's hosts. */
async function assertHostLimit(
  tx: Tx,
  { secrets, limits }: Pick<ChannelTools, 'secrets' | 'limits'>,
  channel: StoredChannel,
): Promise<void> {
  const host = getChannelHost(channel, secrets)
  if (host === null) return
  const others = (await listAllChannels(tx, channel.projectId)).filter(({ id }) => id !== channel.id)
  const used = others.filter(other => getChannelHost(other, secrets) === host).length
  if (used < limits.channelsPerHost) return
  throw tierLimitReached(
    `a project can have at most ${limits.channelsPerHost} channels to ${host}; this project has ${used}`,
  )
}

const getChannelHost = (channel: StoredChannel, secrets: SecretCipher) =>
  findReceiverHost(getChannelKind(channel.type).getAddress(decryptConfig(channel, secrets)))

const listMailRecipients = (type: ChannelType, config: Record<string, unknown>) =>
  getChannelKind(type).getRecipients?.(config) ?? []

async function holdInstallation(tx: Tx, { projectId, chatInstallationId: id }: StoredChannel): Promise<void> {
  if (id === null) return
  if (!isId(id) || !(await holdChatInstallation(tx, projectId, id))) throw notFound('chat installation')
}

/** `whsec_` and 32 random bytes in base64, the format of Standard Webhooks (docs/design/deliveries.md#signatures). */
export function newSigningSecret(): string {
  return `whsec_${Buffer.from(randomToken(32), 'base64url').toString('base64')}`
}
