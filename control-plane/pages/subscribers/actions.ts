import { checkPlanLimit, type InstallationLimits } from '../../accounts/plans/plans.ts'
import { getOrganizationId, lockUsage } from '../../accounts/plans/store.ts'
import { decryptConfig, encryptConfig, encryptSigningSecret } from '../../alerting/channels/config/encrypted-config.ts'
import {
  buildManageUrl,
  deriveSigningSecret,
  isValidConfirmToken,
  isValidManageToken,
  type SubscriberIdentity,
} from '../../alerting/channels/subscribers/subscriber-links.ts'
import { enqueueDeliveries } from '../../alerting/deliveries/queue/enqueue-actions.ts'
import {
  PAGE_CONFIRMATION,
  type PageEventRow,
  toPageSubject,
  toSubscriberSubject,
} from '../../alerting/events/page-event.ts'
import { insertEvents } from '../../alerting/events/store.ts'
import type { SecretCipher } from '../../foundation/platform/crypto/encryption.ts'
import type { Signer } from '../../foundation/platform/crypto/signer.ts'
import { isId, newId, randomToken } from '../../foundation/platform/ids.ts'
import { type Db, isUniqueViolation, type Tx } from '../../foundation/platform/postgres/client.ts'
import { found } from '../../foundation/web/server/errors.ts'
import { hashAddress, type SubscriberAddress } from './address.ts'
import {
  CONFIRMATION_TIMEOUT_MS,
  CONFIRMATION_WINDOW_MS,
  hasTooManyConfirmations,
  isRecentlyRequested,
  MAX_SUBSCRIBERS,
  MAX_UNCONFIRMED,
} from './limits.ts'
import {
  countConfirmations,
  countSubscribers,
  ensureMailChannel,
  findPublishedProjectId,
  findSubscriber,
  holdChosenComponents,
  insertSubscriber,
  insertSubscriberChannel,
  lockSubscriberByAddress,
  markConfirmed,
  removeOldestUnconfirmed,
  removeSubscriber,
  saveComponentChoice,
  saveConfirmationRequest,
} from './store.ts'
import type { StoredSubscriber } from './types.ts'

export type SubscriberTools = {
  db: Db
  secrets: SecretCipher
  /** hashes addresses, so that they can be found and not read */
  sign: Signer
  limits: InstallationLimits
}

/** The page of a subscription. `publicUrl`: without a trailing slash. */
type SubscribedPage = { id: string; name: string; publicUrl: string }
type OwnedPage = SubscribedPage & { projectId: string }

type SubscriptionRequest = { address: SubscriberAddress; componentIds: string[] | null }

/**
 * Sends an address a confirmation, and nothing else until it is confirmed (docs/design/subscribers.md#confirmation). A
 * repeated request sends at most one message in ten minutes; a confirmed subscriber gets a link to the settings. The
 * result does not reveal which case applied, only whether the page is full, or has `none` of the chosen components. Throws
 * 404 for a page that is not published.
 */
export async function subscribe(
  tools: SubscriberTools,
  page: SubscribedPage,
  request: SubscriptionRequest,
  now: Date,
): Promise<'requested' | 'full' | 'none'> {
  try {
    return await tools.db.transaction(async tx => {
      const projectId = found(await findPublishedProjectId(tx, page.id), 'status page')
      const componentIds = await holdChosenComponents(tx, page.id, request.componentIds)
      if (componentIds?.length === 0) return 'none'
      return requestConfirmation(tx, tools, { ...page, projectId }, { ...request, componentIds }, now)
    })
  } catch (error) {
    // a concurrent request for the same address; one message is enough
    if (!isUniqueViolation(error, 'page_subscribers_page_id_address_hash_key')) throw error
    return 'requested'
  }
}

async function requestConfirmation(
  tx: Tx,
  tools: SubscriberTools,
  page: OwnedPage,
  request: SubscriptionRequest,
  now: Date,
): Promise<'requested' | 'full'> {
  const hash = hashAddress(request.address, tools.sign)
  const known = await lockSubscriberByAddress(tx, page.id, hash)
  const { kind } = request.address
  const since = new Date(now.getTime() - CONFIRMATION_WINDOW_MS)
  const { confirmed, unconfirmed } = await countSubscribers(tx, page.id, kind)
  // checked for known addresses too, or the result would reveal who is subscribed
  if (confirmed >= MAX_SUBSCRIBERS[kind] || !(await hasCapacity(tx, tools, page.projectId))) return 'full'
  const isKnown = known !== null && known.confirmedAt !== null && known.pausedAt === null
  const isThrottled =
    (known && isRecentlyRequested(known.askedAt, now)) ||
    hasTooManyConfirmations(await countConfirmations(tx, hash, { since, now }))
  if (!known && isThrottled) return 'requested'
  const tooMany = known ? 0 : unconfirmed + 1 - MAX_UNCONFIRMED[kind]
  if (tooMany > 0) await removeOldestUnconfirmed(tx, page.id, kind, tooMany)
  const subscriber = known ?? (await addSubscriber(tx, tools, page, request, hash, now))
  // who enters an address does not prove that it is theirs: a choice needs a confirmation that is sent with it
  const keepsChoice = subscriber.confirmedAt !== null || isThrottled
  const componentIds = keepsChoice ? subscriber.componentIds : request.componentIds
  await saveConfirmationRequest(
    tx,
    { ...subscriber, componentIds, askedAt: isThrottled ? subscriber.askedAt : now },
    now,
  )
  if (!isThrottled) await sendConfirmation(tx, page, subscriber, isKnown, now)
  return 'requested'
}

async function addSubscriber(
  tx: Tx,
  { secrets }: SubscriberTools,
  page: OwnedPage,
  { address, componentIds }: SubscriptionRequest,
  hash: Buffer,
  now: Date,
): Promise<StoredSubscriber> {
  const owner = { id: newId(), projectId: page.projectId }
  const key = randomToken(32)
  const isMail = address.kind === 'email'
  const channelId = newId()
  const subscriber: StoredSubscriber = {
    ...owner,
    pageId: page.id,
    channelId: isMail ? await ensureMailChannel(tx, page, channelId, now) : channelId,
    kind: address.kind,
    addressHash: hash,
    config: encryptConfig(isMail ? { to: address.text, key } : { url: address.text, key }, owner, secrets),
    signingSecret: isMail ? null : encryptSigningSecret(deriveSigningSecret({ id: owner.id, key }), owner, secrets),
    componentIds,
    askedAt: now,
    confirmedAt: null,
    consecutiveFailures: 0,
    pausedAt: null,
    createdAt: now,
    updatedAt: now,
  }
  if (!isMail) await insertSubscriberChannel(tx, { id: channelId, page, type: 'page_webhook', now })
  await insertSubscriber(tx, subscriber)
  return subscriber
}

async function sendConfirmation(
  tx: Tx,
  page: OwnedPage,
  subscriber: StoredSubscriber,
  isKnown: boolean,
  now: Date,
): Promise<void> {
  const expiresAt = new Date(now.getTime() + CONFIRMATION_TIMEOUT_MS).toISOString()
  const event: PageEventRow = {
    id: newId(),
    projectId: page.projectId,
    name: PAGE_CONFIRMATION,
    subject: toPageSubject(page.id),
    data: { page: { id: page.id, name: page.name, url: page.publicUrl }, isKnown, expires_at: expiresAt },
    occurredAt: now,
  }
  await insertEvents(tx, [event])
  const { id: subscriberId, channelId } = subscriber
  const subject = toSubscriberSubject(subscriberId)
  const to = { projectId: page.projectId, channelId, subscriberId, subject }
  await enqueueDeliveries(tx, [{ ...to, eventId: event.id, eventName: event.name }], now)
}

/** The link to the settings of a subscription. */
export function buildSubscriberManageUrl(
  { secrets }: SubscriberTools,
  page: SubscribedPage,
  subscriber: StoredSubscriber,
): string {
  return buildManageUrl(page.publicUrl, getLinkOwner(subscriber, secrets))
}

const getLinkOwner = (subscriber: StoredSubscriber, secrets: SecretCipher): SubscriberIdentity => ({
  id: subscriber.id,
  key: (decryptConfig(subscriber, secrets) as { key: string }).key,
})

/** The subscriber of a link to the settings; null when the link is not valid. `pageId` null: of any page. */
export async function findByManageLink(
  tools: SubscriberTools,
  pageId: string | null,
  { id, token }: { id: string; token: string },
): Promise<StoredSubscriber | null> {
  return findByLink(tools, pageId, id, owner => isValidManageToken(owner, token))
}

/**
 * Stores the components that a subscriber chose, without those that were deleted in the meantime, and returns them. `none`:
 * none is left, and the choice stays as it was.
 */
export async function changeChoice(
  { db }: SubscriberTools,
  { id, pageId }: StoredSubscriber,
  chosen: string[] | null,
  now: Date,
): Promise<string[] | null | 'none'> {
  return db.transaction(async tx => {
    const componentIds = await holdChosenComponents(tx, pageId, chosen)
    if (componentIds?.length === 0) return 'none'
    await saveComponentChoice(tx, id, componentIds, now)
    return componentIds
  })
}

/**
 * Ends the subscription of a link to the settings, on whichever page it is: a page may have lost its domain to another one
 * since the link was sent. True also for a subscription that has ended already: mail programs try twice. False for a link that
 * is not valid.
 */
export async function unsubscribe(tools: SubscriberTools, link: { id: string; token: string }): Promise<boolean> {
  const subscriber = await findByManageLink(tools, null, link)
  if (subscriber) await removeSubscriber(tools.db, subscriber.pageId, subscriber.id)
  return subscriber !== null || (isId(link.id) && (await findSubscriber(tools.db, null, link.id)) === null)
}

type ConfirmLink = { id: string; until: string; token: string }

/** The subscriber of a confirmation link; null when it is not valid or has expired. */
export async function findByConfirmLink(
  tools: SubscriberTools,
  pageId: string,
  { id, until, token }: ConfirmLink,
  now: Date,
): Promise<StoredSubscriber | null> {
  return findByLink(tools, pageId, id, owner => isValidConfirmToken(owner, until, token, now))
}

/**
 * Confirms the subscriber of a link; repeating it changes nothing. Null when the link is not valid, `full` at the limit
 * of the plan or of the page.
 */
export async function confirmSubscriber(tools: SubscriberTools, pageId: string, link: ConfirmLink, now: Date) {
  const subscriber = await findByConfirmLink(tools, pageId, link, now)
  if (!subscriber) return null
  return await tools.db.transaction(async tx => {
    if (subscriber.confirmedAt === null && !(await mayConfirm(tx, tools, subscriber))) return 'full'
    return (await markConfirmed(tx, subscriber.id, now)) ? subscriber : null
  })
}

async function mayConfirm(tx: Tx, tools: SubscriberTools, { projectId, pageId, kind }: StoredSubscriber) {
  // this locks: confirmations of one organization are counted one after the other
  if (!(await hasCapacity(tx, tools, projectId))) return false
  return (await countSubscribers(tx, pageId, kind)).confirmed < MAX_SUBSCRIBERS[kind]
}

/**
 * Whether the plan of the page's organization allows one more subscriber. The usage is locked until the transaction
 * ends.
 */
async function hasCapacity(tx: Tx, { limits }: SubscriberTools, projectId: string): Promise<boolean> {
  const usage = await lockUsage(tx, await getOrganizationId(tx, projectId), 'subscribers', limits)
  return checkPlanLimit(usage, 1) === null
}

async function findByLink(
  { db, secrets }: SubscriberTools,
  pageId: string | null,
  id: string,
  isValid: (owner: SubscriberIdentity) => boolean,
): Promise<StoredSubscriber | null> {
  const subscriber = isId(id) ? await findSubscriber(db, pageId, id) : null
  return subscriber && isValid(getLinkOwner(subscriber, secrets)) ? subscriber : null
}
