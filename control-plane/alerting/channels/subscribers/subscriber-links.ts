import { createHmac, timingSafeEqual } from 'node:crypto'

/** Signs a subscriber's links. `key` is the subscriber's own, so links stop working with the subscription. */
export type SubscriberIdentity = { id: string; key: string }

/** The page that changes or ends a subscription. A POST with the body of RFC 8058 ends it immediately. */
export function buildManageUrl(pageUrl: string, owner: SubscriberIdentity): string {
  return `${pageUrl}/subscription?${new URLSearchParams({ id: owner.id, token: signManageToken(owner) })}`
}

/** The page that confirms an address, until `expiresAt` (ISO 8601 UTC). */
export function buildConfirmUrl(pageUrl: string, owner: SubscriberIdentity, expiresAt: string): string {
  const query = new URLSearchParams({ id: owner.id, until: expiresAt, token: signConfirmToken(owner, expiresAt) })
  return `${pageUrl}/subscription/confirm?${query}`
}

export const isValidManageToken = (owner: SubscriberIdentity, token: string): boolean =>
  isSame(token, signManageToken(owner))

/** Returns false also for an expired token. */
export const isValidConfirmToken = (owner: SubscriberIdentity, expiresAt: string, token: string, now: Date): boolean =>
  isSame(token, signConfirmToken(owner, expiresAt)) && new Date(expiresAt) > now

/** Returns `whsec_…`, the secret that signs a webhook subscriber's deliveries. */
export const deriveSigningSecret = ({ key }: SubscriberIdentity): string =>
  `whsec_${createHmac('sha256', key).update('signing secret').digest('base64')}`

const signManageToken = ({ id, key }: SubscriberIdentity) => sign(key, `manage ${id}`)
const signConfirmToken = ({ id, key }: SubscriberIdentity, expiresAt: string) => sign(key, `confirm ${id} ${expiresAt}`)

const sign = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64url')

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
