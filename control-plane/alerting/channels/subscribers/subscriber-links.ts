import { createHmac, timingSafeEqual } from 'node:crypto'

/** What signs a subscriber's links: `key` is the subscriber's own, so nothing that they were sent outlives them. */
export type SubscriberIdentity = { id: string; key: string }

/** Where a subscriber changes or ends what they hear; a POST to it with RFC 8058's body ends it at once. */
export function buildManageUrl(pageUrl: string, owner: SubscriberIdentity): string {
  return `${pageUrl}/subscription?${new URLSearchParams({ id: owner.id, token: signManageToken(owner) })}`
}

/** Where an address is confirmed, until `expiresAt` (ISO 8601 UTC). */
export function buildConfirmUrl(pageUrl: string, owner: SubscriberIdentity, expiresAt: string): string {
  const query = new URLSearchParams({ id: owner.id, until: expiresAt, token: signConfirmToken(owner, expiresAt) })
  return `${pageUrl}/subscription/confirm?${query}`
}

export const isValidManageToken = (owner: SubscriberIdentity, token: string): boolean =>
  isSame(token, signManageToken(owner))

/** False also when it has expired. */
export const isValidConfirmToken = (owner: SubscriberIdentity, expiresAt: string, token: string, now: Date): boolean =>
  isSame(token, signConfirmToken(owner, expiresAt)) && new Date(expiresAt) > now

/** `whsec_…`: what a webhook subscriber's deliveries are signed with. */
export const deriveSigningSecret = ({ key }: SubscriberIdentity): string =>
  `whsec_${createHmac('sha256', key).update('signing secret').digest('base64')}`

const signManageToken = ({ id, key }: SubscriberIdentity) => sign(key, `manage ${id}`)
const signConfirmToken = ({ id, key }: SubscriberIdentity, expiresAt: string) => sign(key, `confirm ${id} ${expiresAt}`)

const sign = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64url')

function isSame(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
