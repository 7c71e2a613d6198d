import { normalizeAddress } from '../../../accounts/email/confirmation/address.ts'
import { listAddressStates, listTrustedChannelIds } from '../../../accounts/email/confirmation/store.ts'
import { MAIL_RULES, type MailKind, type MailRules } from '../../../accounts/email/daily-limits/limits.ts'
import { reserveMails } from '../../../accounts/email/daily-limits/store.ts'
import type { PlanName } from '../../../accounts/plans/plans.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { type Db, isLockTimeout, query, setLockTimeout, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { MailMessage } from '../../channels/types.ts'
import { PAGE_CONFIRMATION } from '../../events/page-event.ts'
import { buildUnsentAttempt } from '../log/log-entry.ts'
import type { QueuedDelivery } from '../queue/lane-store.ts'
import { decryptAddress, encryptAddress } from '../rendering/encrypted-address.ts'
import type { PreparedDelivery } from '../rendering/prepare.ts'
import type { LoggedAttempt } from '../types.ts'
import { listRecentlyMailedLanes } from './mail-store.ts'

type Ready = PreparedDelivery & { head: QueuedDelivery }
type Mail = Ready & { message: MailMessage }
type Owner = { organizationId: string; plan: PlanName }
/** A recipient of one mail. `why`: the reason for not sending to it; null: the mail is sent. */
type MailRecipient = {
  mail: Mail
  owner: Owner
  address: string
  kind: MailKind
  isCounted: boolean
  why: string | null
}

/** `db`: mails are counted there, in separate transactions */
type Tools = { db: Db; secrets: SecretCipher; mailRules?: MailRules }

/** `uncounted`: how many mails, by address, are sent without being counted, because another transaction held the counters */
type MailAdmission = { sent: Ready[]; held: { id: string; attempt: LoggedAttempt }[]; uncounted: number }

/** For one counter; counting takes milliseconds. An alert does not wait longer: it is sent without being counted. */
const COUNTER_LOCK_TIMEOUT_MS = 100

const NOT_CONFIRMED = 'the address is not confirmed; its owner must open the link in the confirmation mail'

/**
 * Withholds mails to unconfirmed addresses and mails beyond a daily limit (docs/design/deliveries.md#mail). Each mail
 * goes to the remaining addresses, and its log entry names the others. A mail without a remaining address is in `held`.
 * Other deliveries pass unchanged.
 */
export async function admitMails(
  tx: Tx,
  ready: Ready[],
  { db, secrets, mailRules = MAIL_RULES }: Tools,
  now: Date,
): Promise<MailAdmission> {
  const mails = ready.filter(isMail)
  if (mails.length === 0) return { sent: ready, held: [], uncounted: 0 }
  const recipients = await loadMailRecipients(tx, mails, secrets)
  if (mailRules.requiresConfirmation) await refuseUnconfirmed(tx, recipients)
  const uncounted = await refuseBeyondLimits(tx, db, recipients, mailRules, now)
  const byId = new Map(mails.map(({ id }) => [id, recipients.filter(({ mail }) => mail.id === id)]))
  const admitted: MailAdmission = { sent: [], held: [], uncounted }
  for (const one of ready) {
    const mine = byId.get(one.id)
    if (!mine || !isMail(one)) admitted.sent.push(one)
    else if (mine.some(isSent)) admitted.sent.push(withRemainingRecipients(one, mine, secrets))
    else admitted.held.push({ id: one.id, attempt: buildUnsentAttempt(formatReasons(mine), now) })
  }
  return admitted
}

const isMail = (ready: Ready): ready is Mail => ready.message.via === 'mail'
const isSent = ({ why }: MailRecipient) => why === null

/** The mail to its remaining addresses. */
function withRemainingRecipients(mail: Mail, recipients: MailRecipient[], secrets: SecretCipher): Mail {
  const to = recipients.filter(isSent).map(({ address }) => address)
  if (to.length === mail.message.to.length) return mail
  const url = `mailto:${to.map(encodeURI).join(',')}`
  // for a subscriber the stored address is masked
  const isShown = mail.subscriberId === null
  const shown = isShown ? { ...mail.shown, url } : mail.shown
  const address = isShown ? encryptAddress(url, mail, secrets) : mail.address
  const leftOut = formatReasons(recipients)
  return { ...mail, message: { ...mail.message, to, url }, shown, address, ...(leftOut !== '' && { leftOut }) }
}

/** "not sent to a@example.com: …; not sent to b@example.com: …". */
const formatReasons = (recipients: MailRecipient[]): string =>
  recipients.flatMap(({ why, address }) => (why === null ? [] : `not sent to ${address}: ${why}`)).join('; ')

async function loadMailRecipients(tx: Tx, mails: Mail[], secrets: SecretCipher): Promise<MailRecipient[]> {
  const owners = await loadOwners(tx, [...new Set(mails.map(({ projectId }) => projectId))])
  return mails.flatMap(mail => {
    const owner = owners.get(mail.projectId)!
    const { eventName, isReplay, attemptsMade, isDeferred, body } = mail.head
    // a mail that was claimed before has been counted, and goes to the same addresses
    const isAgain = body !== null && !(isReplay && attemptsMade === 0 && !isDeferred)
    const before =
      isAgain && mail.subscriberId === null ? parseMailtoAddresses(decryptPreviousAddress(mail.head, secrets)) : null
    const again = mail.message.to.filter(address => before?.has(normalizeAddress(address)))
    const isCounted = !isAgain || (before !== null && again.length === 0)
    const kind: MailKind =
      mail.subscriberId === null ? 'alert' : eventName === PAGE_CONFIRMATION ? 'page_confirmation' : 'page'
    const to = isCounted || before === null ? mail.message.to : again
    return to.map(address => ({ mail, owner, address, kind, isCounted, why: null }))
  })
}

const decryptPreviousAddress = (head: QueuedDelivery, secrets: SecretCipher) =>
  head.requestAddress === null ? head.requestUrl : decryptAddress(head.requestAddress, head, secrets)

function parseMailtoAddresses(url: string | null): Set<string> {
  if (!url?.startsWith('mailto:')) return new Set()
  return new Set(url.slice('mailto:'.length).split(',').map(decodeURI).map(normalizeAddress))
}

async function loadOwners(tx: Tx, projectIds: string[]): Promise<Map<string, Owner>> {
  const rows = await query<Owner & { projectId: string }>(
    tx,
    `SELECT p.id AS "projectId", o.id AS "organizationId", o.plan
     FROM projects p JOIN organizations o ON o.id = p.organization_id WHERE p.id = ANY (?::uuid[])`,
    [projectIds],
  )
  return new Map(rows.map(({ projectId, ...owner }) => [projectId, owner]))
}

/** Subscribers of status pages are not checked here: they confirm when they subscribe. */
async function refuseUnconfirmed(tx: Tx, recipients: MailRecipient[]): Promise<void> {
  const alerts = recipients.filter(({ kind }) => kind === 'alert')
  if (alerts.length === 0) return
  const trusted = await listTrustedChannelIds(tx, [...new Set(alerts.map(({ mail }) => mail.channelId))])
  const checked = alerts.filter(({ mail }) => !trusted.has(mail.channelId))
  const toKey = (organizationId: string, address: string) => `${organizationId} ${normalizeAddress(address)}`
  const lookups = new Map(
    checked.map(({ owner: { organizationId }, address }) => [
      toKey(organizationId, address),
      { organizationId, address: normalizeAddress(address) },
    ]),
  )
  const known = await listAddressStates(tx, [...lookups.values()])
  const confirmed = new Set(known.filter(one => one.isConfirmed).map(one => toKey(one.organizationId, one.address)))
  for (const recipient of checked)
    if (!confirmed.has(toKey(recipient.owner.organizationId, recipient.address))) recipient.why = NOT_CONFIRMED
}

/** Returns how many could not be counted; these are sent. */
async function refuseBeyondLimits(
  tx: Tx,
  db: Db,
  recipients: MailRecipient[],
  { limits }: MailRules,
  now: Date,
): Promise<number> {
  const counted = recipients.filter(recipient => recipient.isCounted && isSent(recipient))
  const uncounted = await countMails(db, counted, recipient => recipient.kind, limits, now)
  // mails of a flapping monitor must not prevent the first mail about another one
  const alerts = counted.filter(recipient => !isSent(recipient) && recipient.kind === 'alert')
  const about = alerts.filter(({ mail }) => mail.subject.startsWith('monitor:'))
  const mailed = await listRecentlyMailedLanes(
    tx,
    about.map(({ mail }) => mail),
    now,
  )
  const first = about.filter(({ mail }) => !mailed.has(`${mail.channelId} ${mail.subject}`))
  // a digest may contain the first message about a monitor
  first.push(...alerts.filter(({ mail }) => mail.subject.startsWith('digest:')))
  return uncounted + (await countMails(db, first, () => 'first', limits, now))
}

/**
 * Counts in a separate, short transaction, so that a claim never holds locks of counters while it waits for other rows.
 * When the claim is rolled back, its mails stay counted.
 */
async function countMails(
  db: Db,
  recipients: MailRecipient[],
  getKind: (recipient: MailRecipient) => MailKind,
  limits: MailRules['limits'],
  now: Date,
): Promise<number> {
  if (recipients.length === 0) return 0
  const requests = recipients.map(recipient => ({
    kind: getKind(recipient),
    ...recipient.owner,
    address: normalizeAddress(recipient.address),
  }))
  const refusals = await db
    .transaction(async tx => {
      await setLockTimeout(tx, COUNTER_LOCK_TIMEOUT_MS)
      return reserveMails(tx, requests, limits, now)
    })
    .catch(error => {
      if (isLockTimeout(error)) return null
      throw error
    })
  for (const [i, recipient] of recipients.entries()) {
    const refusal = refusals?.[i] ?? null
    recipient.why = refusal && `${refusal}; replay this delivery tomorrow`
  }
  return refusals === null ? recipients.length : 0
}
