import { type SecretCipher, sha256 } from '../../../foundation/platform/crypto/encryption.ts'
import { randomToken } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { rateLimited } from '../../../foundation/web/server/errors.ts'
import { getOrganizationName } from '../../members/store.ts'
import { getPlan } from '../../plans/store.ts'
import { computeSecondsToNextDay, type MailRules } from '../daily-limits/limits.ts'
import { reserveMails } from '../daily-limits/store.ts'
import { buildConfirmationEmail } from '../outbox/account-email.ts'
import { enqueueMail } from '../outbox/actions.ts'
import { CONFIRMATION_LIFETIME_MS, MIN_CONFIRMATION_INTERVAL_MS, normalizeAddress } from './address.ts'
import { type AddressState, listAddressStates, storeConfirmationRequests } from './store.ts'

/** `sendsMail`: a mail server is configured. */
export type AddressTools = { secrets: SecretCipher; publicUrl: string; sendsMail: boolean; mailRules: MailRules }

/**
 * Sends a confirmation to those of an organization's addresses that are not confirmed, at most one in ten minutes to each;
 * `again` false: only where none is open. Throws 429 beyond a limit of the day; then nothing is sent.
 */
export async function requestConfirmations(
  tx: Tx,
  tools: AddressTools,
  organizationId: string,
  addresses: string[],
  { again, now }: { again: boolean; now: Date },
): Promise<void> {
  const { mailRules: rules, sendsMail } = tools
  if (!rules.requiresConfirmation || !sendsMail) return
  const known = await loadAddressStates(tx, rules, organizationId, addresses)
  const unconfirmed = [...known.values()].filter(({ isConfirmed }) => !isConfirmed).map(({ address }) => address)
  if (unconfirmed.length === 0) return
  const tokens = new Map(unconfirmed.map(address => [address, randomToken(32)]))
  const asked = await storeConfirmationRequests(
    tx,
    organizationId,
    unconfirmed.map(address => ({ address, tokenHash: sha256(tokens.get(address)!) })),
    {
      now,
      expiresAt: new Date(now.getTime() + CONFIRMATION_LIFETIME_MS),
      before: new Date(now.getTime() - (again ? MIN_CONFIRMATION_INTERVAL_MS : CONFIRMATION_LIFETIME_MS)),
    },
  )
  await reserveConfirmations(tx, rules, organizationId, asked, now)
  const name = await getOrganizationName(tx, organizationId)
  for (const address of asked) {
    const url = `${tools.publicUrl}/confirm-address/${tokens.get(address)}`
    await enqueueMail(tx, tools.secrets, buildConfirmationEmail(address, name, url))
  }
}

/** Counts mails to people who did not ask for them. Throws 429 beyond a limit of the day. */
export async function reserveConfirmations(
  tx: Tx,
  { limits }: MailRules,
  organizationId: string,
  addresses: string[],
  now: Date,
): Promise<void> {
  if (addresses.length === 0) return
  const plan = await getPlan(tx, organizationId)
  const wishes = addresses.map(address => ({ kind: 'confirmation' as const, organizationId, plan, address }))
  const refusal = (await reserveMails(tx, wishes, limits, now)).find(one => one !== null)
  if (refusal) throw rateLimited(`${refusal}; try again tomorrow`, computeSecondsToNextDay(now))
}

/** What is known of an organization's addresses, by the address in small letters. */
export async function loadAddressStates(
  db: Db,
  { requiresConfirmation: confirms }: MailRules,
  organizationId: string,
  addresses: string[],
): Promise<Map<string, AddressState>> {
  const wanted = [...new Set(addresses.map(normalizeAddress))].map(address => ({ organizationId, address }))
  const known = wanted.length === 0 ? [] : await listAddressStates(db, wanted)
  return new Map(known.map(one => [one.address, confirms ? one : { ...one, isConfirmed: true }]))
}
