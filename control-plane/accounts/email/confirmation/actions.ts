import { type SecretCipher, sha256 } from '../../../foundation/platform/crypto/encryption.ts'
import { randomToken } from '../../../foundation/platform/ids.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { rateLimited } from '../../../foundation/web/server/errors.ts'
import { getOrganizationName } from '../../members/store.ts'
import { getPlan } from '../../plans/store.ts'
import { computeSecondsToNextDay, type MailRules } from '../daily-limits/limits.ts'
import { reserveMails } from '../daily-limits/store.ts'
import { buildConfirmationEmail } from '../outbox/account-email.tsx'
import { enqueueMail } from '../outbox/actions.ts'
import { CONFIRMATION_LIFETIME_MS, MIN_CONFIRMATION_INTERVAL_MS, normalizeAddress } from './address.ts'
import { type AddressState, listAddressStates, storeConfirmationRequests } from './store.ts'

/** `sendsMail`: a mail server is configured. */
export type AddressTools = { secrets: SecretCipher; publicUrl: string; sendsMail: boolean; mailRules: MailRules }

/**
 * Queues a confirmation for each unconfirmed address of an organization, at most one in ten minutes
 * (docs/design/accounts.md#confirmed-addresses). `again` false: only for addresses without an open confirmation. Throws 429 above a daily limit; then nothing is sent.
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
  const requested = await storeConfirmationRequests(
    tx,
    organizationId,
    unconfirmed.map(address => ({ address, tokenHash: sha256(tokens.get(address)!) })),
    {
      now,
      expiresAt: new Date(now.getTime() + CONFIRMATION_LIFETIME_MS),
      before: new Date(now.getTime() - (again ? MIN_CONFIRMATION_INTERVAL_MS : CONFIRMATION_LIFETIME_MS)),
    },
  )
  await reserveConfirmations(tx, rules, organizationId, requested, now)
  const name = await getOrganizationName(tx, organizationId)
  for (const address of requested) {
    const url = `${tools.publicUrl}/confirm-address/${tokens.get(address)}`
    await enqueueMail(tx, tools.secrets, buildConfirmationEmail(address, name, url))
  }
}

/** Counts emails to people who did not request them. Throws 429 above a daily limit. */
export async function reserveConfirmations(
  tx: Tx,
  { limits }: MailRules,
  organizationId: string,
  addresses: string[],
  now: Date,
): Promise<void> {
  if (addresses.length === 0) return
  const plan = await getPlan(tx, organizationId)
  const requests = addresses.map(address => ({ kind: 'confirmation' as const, organizationId, plan, address }))
  const refusal = (await reserveMails(tx, requests, limits, now)).find(one => one !== null)
  if (refusal) throw rateLimited(`${refusal}; try again tomorrow`, computeSecondsToNextDay(now))
}

/** Loads the states of an organization's addresses, by the address in lower case. */
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
