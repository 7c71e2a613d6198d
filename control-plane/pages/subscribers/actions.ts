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
import { notFound } from '../../foundation/web/server/errors.ts'
import { hashAddress, type SubscriberAddress } from './address.ts'
import {
  CONFIRMATION_TIMEOUT_MS,
  CONFIRMATION_WINDOW_MS,
  hasTooManyConfirmations,
  isRecentlyRequested,
  MAX_SUBSCRIBERS,
} from './limits.ts'
import {
  countConfirmationRequests,
  ensureMailChannel,
  findPublishedProjectId,
  findSubscriber,
  insertSubscriber,
  insertSubscriberChannel,
  lockSubscriberByAddress,
  markConfirmed,
  saveConfirmationRequest,
} from './store.ts'
import type { StoredSubscriber } from './types.ts'

export type SubscriberTools = {
  db: Db
  secrets: SecretCipher
  /** makes addresses findable without being readable */
  sign: Signer
  limits: InstallationLimits
}

/** The page that somebody subscribes to. `publicUrl`: without a slash at the end. */
export type SubscribedPage = { id: string; name: string; publicUrl: string }
type OwnedPage = SubscribedPage & { projectId: string }

export type SubscriptionRequest = { address: SubscriberAddress; componentIds: string[] | null }

/**
 * Sends an address a confirmation, and nothing else until it is confirmed. Asking again is the same wish, at most one
 * message in ten minutes; who is subscribed already is sent where to change that. What is answered tells nobody which of
 * these it was, but whether the page is full. Throws 404 for a page that is not published.
 */
export async function subscribe(
  tools: SubscriberTools,
  page: SubscribedPage,
  wish: SubscriptionRequest,
  now: Date,
): Promise<'asked' | 'full'> {
  try {
    return await tools.db.transaction(async tx => {
      const projectId = await findPublishedProjectId(tx, page.id)
      if (projectId === null) throw notFound('status page')
      return requestConfirmation(tx, tools, { ...page, projectId }, wish, now)
    })
  } catch (error) {
    // somebody asks for the same address this very moment; one message is enough
    if (!isUniqueViolation(error, 'page_subscribers_page_id_address_hash_key')) throw error
    return 'asked'
  }
}

async function requestConfirmation(
  tx: Tx,
  tools: SubscriberTools,
  page: OwnedPage,
  wish: SubscriptionRequest,
  now: Date,
): Promise<'asked' | 'full'> {
  const hash = hashAddress(wish.address, tools.sign)
  const known = await lockSubscriberByAddress(tx, page.id, hash)
  const { kind } = wish.address
  const since = new Date(now.getTime() - CONFIRMATION_WINDOW_MS)
  const counts = await countConfirmationRequests(tx, { pageId: page.id, kind, addressHash: hash }, since)
  // whoever asks, or it would tell who is subscribed
  if (counts.ofPage >= MAX_SUBSCRIBERS[kind] || !(await hasRoom(tx, tools, page.projectId))) return 'full'
  const isKnown = known !== null && known.confirmedAt !== null && known.pausedAt === null
  const isQuiet = (known && isRecentlyRequested(known.askedAt, now)) || hasTooManyConfirmations(counts.ofAddress)
  if (!known && isQuiet) return 'asked'
  const subscriber = known ?? (await addSubscriber(tx, tools, page, wish, hash, now))
  const componentIds = isKnown ? subscriber.componentIds : wish.componentIds
  await saveConfirmationRequest(tx, { ...subscriber, componentIds, askedAt: isQuiet ? subscriber.askedAt : now }, now)
  if (!isQuiet) await sendConfirmation(tx, page, subscriber, isKnown, now)
  return 'asked'
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

/** Where somebody manages what they hear of a page. */
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

/** Whom a link to manage a subscription belongs to; null where it is nobody's. `pageId` null: of whatever page. */
export async function findByManageLink(
  tools: SubscriberTools,
  pageId: string | null,
  { id, token }: { id: string; token: string },
): Promise<StoredSubscriber | null> {
  return findByLink(tools, pageId, id, owner => isValidManageToken(owner, token))
}

export type ConfirmLink = { id: string; until: string; token: string }

/** Whom a link to confirm belongs to; null also when it has expired. */
export async function findByConfirmLink(
  tools: SubscriberTools,
  pageId: string,
  { id, until, token }: ConfirmLink,
  now: Date,
): Promise<StoredSubscriber | null> {
  return findByLink(tools, pageId, id, owner => isValidConfirmToken(owner, until, token, now))
}

/** Confirms whom the link belongs to, again without harm; null where the subscriber is gone, `full` beyond the plan. */
export async function confirmSubscriber(tools: SubscriberTools, pageId: string, link: ConfirmLink, now: Date) {
  const subscriber = await findByConfirmLink(tools, pageId, link, now)
  if (!subscriber) return null
  return await tools.db.transaction(async tx => {
    const hasPlace = subscriber.confirmedAt !== null || (await hasRoom(tx, tools, subscriber.projectId))
    if (!hasPlace) return 'full'
    await markConfirmed(tx, subscriber.id, now)
    return subscriber
  })
}

/** Whether one more fits into the plan of the page's organization; the place stays free until the transaction ends. */
async function hasRoom(tx: Tx, { limits }: SubscriberTools, projectId: string): Promise<boolean> {
  const usage = await lockUsage(tx, await getOrganizationId(tx, projectId), 'subscribers', limits)
  return checkPlanLimit(usage, 1) === null
}

async function findByLink(
  { db, secrets }: SubscriberTools,
  pageId: string | null,
  id: string,
  isRight: (owner: SubscriberIdentity) => boolean,
): Promise<StoredSubscriber | null> {
  const subscriber = isId(id) ? await findSubscriber(db, pageId, id) : null
  return subscriber && isRight(getLinkOwner(subscriber, secrets)) ? subscriber : null
}
