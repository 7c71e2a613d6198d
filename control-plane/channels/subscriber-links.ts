import { createHmac, timingSafeEqual } from 'node:crypto'

/** What signs a subscriber's links: `key` is the subscriber's own, so nothing that they were sent outlives them. */
export type LinkOwner = { id: string; key: string }

/** Where a subscriber changes or ends what they hear; a POST to it with RFC 8058's body ends it at once. */
export function manageUrl(pageUrl: string, owner: LinkOwner): string {
  return `${pageUrl}/subscription?${new URLSearchParams({ id: owner.id, token: manageToken(owner) })}`
}

/** Where an address is confirmed, until `expiresAt` (ISO 8601 UTC). */
export function confirmUrl(pageUrl: string, owner: LinkOwner, expiresAt: string): string {
  const query = new URLSearchParams({ id: owner.id, until: expiresAt, token: confirmToken(owner, expiresAt) })
  return `${pageUrl}/subscription/confirm?${query}`
}

export const isManageToken = (owner: LinkOwner, token: string): boolean => isSame(token, manageToken(owner))

/** False also when it has expired. */
export const isConfirmToken = (owner: LinkOwner, expiresAt: string, token: string, now: Date): boolean =>
  isSame(token, confirmToken(owner, expiresAt)) && new Date(expiresAt) > now

/** `whsec_…`: what a webhook subscriber's deliveries are signed with. */
export const signingSecretOf = ({ key }: LinkOwner): string =>
  `whsec_${createHmac('sha256', key).update('signing secret').digest('base64')}`

const manageToken = ({ id, key }: LinkOwner) => sign(key, `manage ${id}`)
const confirmToken = ({ id, key }: LinkOwner, expiresAt: string) => sign(key, `confirm ${id} ${expiresAt}`)

const sign = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64url')

function isSame(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
