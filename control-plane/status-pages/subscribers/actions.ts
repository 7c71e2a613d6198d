import { type Limits, overLimit } from '../../accounts/plans.ts'
import { lockUsage, organizationOf } from '../../accounts/store.ts'
import { openConfig, sealConfig, sealSigningSecret } from '../../channels/sealed.ts'
import {
  isConfirmToken,
  isManageToken,
  type LinkOwner,
  manageUrl,
  signingSecretOf,
} from '../../channels/subscriber-links.ts'
import { enqueueDeliveries } from '../../deliveries/actions.ts'
import { PAGE_CONFIRMATION, type PageEventRow, subjectOfPage, subjectOfSubscriber } from '../../events/page-event.ts'
import { insertEvents } from '../../events/store.ts'
import { isId, newId, randomToken } from '../../platform/ids.ts'
import { type Db, isUniqueViolation, type Tx } from '../../platform/postgres.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { Sign } from '../../platform/signer.ts'
import { notFound } from '../../web/errors.ts'
import { type Address, addressHash } from './address.ts'
import { CONFIRM_MS, isAskedLately, isAskedTooOften, MOST_SUBSCRIBERS, OFTEN_MS } from './limits.ts'
import {
  confirm,
  countAsked,
  findSubscriber,
  insertChannel,
  insertSubscriber,
  lockByAddress,
  mailChannelOf,
  projectOfPublished,
  storeAsked,
} from './store.ts'
import type { StoredSubscriber } from './types.ts'

export type SubscriberTools = {
  db: Db
  secrets: Secrets
  /** makes addresses findable without being readable */
  sign: Sign
  limits: Limits
}

/** The page that somebody subscribes to. `publicUrl`: without a slash at the end. */
export type SubscribedPage = { id: string; name: string; publicUrl: string }
type OwnedPage = SubscribedPage & { projectId: string }

export type Wish = { address: Address; componentIds: string[] | null }

/**
 * Sends an address a confirmation, and nothing else until it is confirmed. Asking again is the same wish, at most one
 * message in ten minutes; who is subscribed already is sent where to change that. What is answered tells nobody which of
 * these it was, but whether the page is full. Throws 404 for a page that is not published.
 */
export async function subscribe(
  tools: SubscriberTools,
  page: SubscribedPage,
  wish: Wish,
  now: Date,
): Promise<'asked' | 'full'> {
  try {
    return await tools.db.transaction(async tx => {
      const projectId = await projectOfPublished(tx, page.id)
      if (projectId === null) throw notFound('status page')
      return ask(tx, tools, { ...page, projectId }, wish, now)
    })
  } catch (error) {
    // somebody asks for the same address this very moment; one message is enough
    if (!isUniqueViolation(error, 'page_subscribers_page_id_address_hash_key')) throw error
    return 'asked'
  }
}

async function ask(tx: Tx, tools: SubscriberTools, page: OwnedPage, wish: Wish, now: Date): Promise<'asked' | 'full'> {
  const hash = addressHash(wish.address, tools.sign)
  const known = await lockByAddress(tx, page.id, hash)
  const { kind } = wish.address
  const since = new Date(now.getTime() - OFTEN_MS)
  const counts = await countAsked(tx, { pageId: page.id, kind, addressHash: hash }, since)
  // whoever asks, or it would tell who is subscribed
  if (counts.ofPage >= MOST_SUBSCRIBERS[kind] || !(await hasRoom(tx, tools, page.projectId))) return 'full'
  const isKnown = known !== null && known.confirmedAt !== null && known.pausedAt === null
  const isQuiet = (known && isAskedLately(known.askedAt, now)) || isAskedTooOften(counts.ofAddress)
  if (!known && isQuiet) return 'asked'
  const subscriber = known ?? (await addSubscriber(tx, tools, page, wish, hash, now))
  const componentIds = isKnown ? subscriber.componentIds : wish.componentIds
  await storeAsked(tx, { ...subscriber, componentIds, askedAt: isQuiet ? subscriber.askedAt : now }, now)
  if (!isQuiet) await sendConfirmation(tx, page, subscriber, isKnown, now)
  return 'asked'
}

async function addSubscriber(
  tx: Tx,
  { secrets }: SubscriberTools,
  page: OwnedPage,
  { address, componentIds }: Wish,
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
    channelId: isMail ? await mailChannelOf(tx, page, channelId, now) : channelId,
    kind: address.kind,
    addressHash: hash,
    config: sealConfig(isMail ? { to: address.text, key } : { url: address.text, key }, owner, secrets),
    signingSecret: isMail ? null : sealSigningSecret(signingSecretOf({ id: owner.id, key }), owner, secrets),
    componentIds,
    askedAt: now,
    confirmedAt: null,
    consecutiveFailures: 0,
    pausedAt: null,
    createdAt: now,
    updatedAt: now,
  }
  if (!isMail) await insertChannel(tx, { id: channelId, page, type: 'page_webhook', now })
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
  const expiresAt = new Date(now.getTime() + CONFIRM_MS).toISOString()
  const event: PageEventRow = {
    id: newId(),
    projectId: page.projectId,
    name: PAGE_CONFIRMATION,
    subject: subjectOfPage(page.id),
    data: { page: { id: page.id, name: page.name, url: page.publicUrl }, isKnown, expires_at: expiresAt },
    occurredAt: now,
  }
  await insertEvents(tx, [event])
  const { id: subscriberId, channelId } = subscriber
  const subject = subjectOfSubscriber(subscriberId)
  const to = { projectId: page.projectId, channelId, subscriberId, subject }
  await enqueueDeliveries(tx, [{ ...to, eventId: event.id, eventName: event.name }], now)
}

/** Where somebody manages what they hear of a page. */
export function manageUrlOf({ secrets }: SubscriberTools, page: SubscribedPage, subscriber: StoredSubscriber): string {
  return manageUrl(page.publicUrl, ownerOf(subscriber, secrets))
}

const ownerOf = (subscriber: StoredSubscriber, secrets: Secrets): LinkOwner => ({
  id: subscriber.id,
  key: (openConfig(subscriber, secrets) as { key: string }).key,
})

/** Whom a link to manage a subscription belongs to; null where it is nobody's. `pageId` null: of whatever page. */
export async function openManageLink(
  tools: SubscriberTools,
  pageId: string | null,
  { id, token }: { id: string; token: string },
): Promise<StoredSubscriber | null> {
  return openLink(tools, pageId, id, owner => isManageToken(owner, token))
}

export type ConfirmLink = { id: string; until: string; token: string }

/** Whom a link to confirm belongs to; null also when it has expired. */
export async function openConfirmLink(
  tools: SubscriberTools,
  pageId: string,
  { id, until, token }: ConfirmLink,
  now: Date,
): Promise<StoredSubscriber | null> {
  return openLink(tools, pageId, id, owner => isConfirmToken(owner, until, token, now))
}

/** Confirms whom the link belongs to, again without harm; null where the subscriber is gone, `full` beyond the plan. */
export async function confirmSubscriber(tools: SubscriberTools, pageId: string, link: ConfirmLink, now: Date) {
  const subscriber = await openConfirmLink(tools, pageId, link, now)
  if (!subscriber) return null
  return await tools.db.transaction(async tx => {
    const hasPlace = subscriber.confirmedAt !== null || (await hasRoom(tx, tools, subscriber.projectId))
    if (!hasPlace) return 'full'
    await confirm(tx, subscriber.id, now)
    return subscriber
  })
}

/** Whether one more fits into the plan of the page's organization; the place stays free until the transaction ends. */
async function hasRoom(tx: Tx, { limits }: SubscriberTools, projectId: string): Promise<boolean> {
  const usage = await lockUsage(tx, await organizationOf(tx, projectId), 'subscribers', limits)
  return overLimit(usage, 1) === null
}

async function openLink(
  { db, secrets }: SubscriberTools,
  pageId: string | null,
  id: string,
  isRight: (owner: LinkOwner) => boolean,
): Promise<StoredSubscriber | null> {
  const subscriber = isId(id) ? await findSubscriber(db, pageId, id) : null
  return subscriber && isRight(ownerOf(subscriber, secrets)) ? subscriber : null
}
