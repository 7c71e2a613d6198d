import { randomToken } from '../../platform/ids.ts'
import type { Db, Tx } from '../../platform/postgres.ts'
import { type Secrets, sha256 } from '../../platform/secrets.ts'
import { rateLimited } from '../../web/errors.ts'
import { post } from '../mails/actions.ts'
import { confirmationOfAddress } from '../mails/letter.ts'
import { takeMails } from '../mails/limit-store.ts'
import { type MailRules, secondsToNextDay } from '../mails/limits.ts'
import { nameOfOrganization } from '../members/store.ts'
import { planOfOrganization } from '../store.ts'
import { ASK_AGAIN_MS, addressKey, CONFIRM_MS } from './address.ts'
import { type Known, knownAddresses, storeAsked } from './store.ts'

/** `sendsMail`: a mail server is configured. */
export type AddressTools = { secrets: Secrets; publicUrl: string; sendsMail: boolean; mailRules: MailRules }

/**
 * Sends a confirmation to those of an organization's addresses that are not confirmed, at most one in ten minutes to each;
 * `again` false: only where none is open. Throws 429 beyond a limit of the day; then nothing is sent.
 */
export async function askAddresses(
  tx: Tx,
  tools: AddressTools,
  organizationId: string,
  addresses: string[],
  { again, now }: { again: boolean; now: Date },
): Promise<void> {
  const { mailRules: rules, sendsMail } = tools
  if (!rules.confirms || !sendsMail) return
  const known = await readAddresses(tx, rules, organizationId, addresses)
  const unconfirmed = [...known.values()].filter(({ isConfirmed }) => !isConfirmed).map(({ address }) => address)
  if (unconfirmed.length === 0) return
  const tokens = new Map(unconfirmed.map(address => [address, randomToken(32)]))
  const asked = await storeAsked(
    tx,
    organizationId,
    unconfirmed.map(address => ({ address, tokenHash: sha256(tokens.get(address)!) })),
    {
      now,
      expiresAt: new Date(now.getTime() + CONFIRM_MS),
      before: new Date(now.getTime() - (again ? ASK_AGAIN_MS : CONFIRM_MS)),
    },
  )
  await takeConfirmations(tx, rules, organizationId, asked, now)
  const name = await nameOfOrganization(tx, organizationId)
  for (const address of asked) {
    const url = `${tools.publicUrl}/confirm-address/${tokens.get(address)}`
    await post(tx, tools.secrets, confirmationOfAddress(address, name, url))
  }
}

/** Counts mails to people who did not ask for them. Throws 429 beyond a limit of the day. */
export async function takeConfirmations(
  tx: Tx,
  { limits }: MailRules,
  organizationId: string,
  addresses: string[],
  now: Date,
): Promise<void> {
  if (addresses.length === 0) return
  const plan = await planOfOrganization(tx, organizationId)
  const wishes = addresses.map(address => ({ kind: 'confirmation' as const, organizationId, plan, address }))
  const refusal = (await takeMails(tx, wishes, limits, now)).find(one => one !== null)
  if (refusal) throw rateLimited(`${refusal}; try again tomorrow`, secondsToNextDay(now))
}

/** What is known of an organization's addresses, by the address in small letters. */
export async function readAddresses(
  db: Db,
  { confirms }: MailRules,
  organizationId: string,
  addresses: string[],
): Promise<Map<string, Known>> {
  const wanted = [...new Set(addresses.map(addressKey))].map(address => ({ organizationId, address }))
  const known = wanted.length === 0 ? [] : await knownAddresses(db, wanted)
  return new Map(known.map(one => [one.address, confirms ? one : { ...one, isConfirmed: true }]))
}
