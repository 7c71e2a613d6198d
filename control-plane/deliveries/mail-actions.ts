import { addressKey } from '../accounts/addresses/address.ts'
import { knownAddresses, trustedChannels } from '../accounts/addresses/store.ts'
import { takeMails } from '../accounts/mails/limit-store.ts'
import { MAIL_RULES, type MailKind, type MailRules } from '../accounts/mails/limits.ts'
import type { Plan } from '../accounts/plans.ts'
import type { MailMessage } from '../channels/types.ts'
import { PAGE_CONFIRMATION } from '../events/page-event.ts'
import { type Db, isLockTimeout, query, type Tx, waitAtMost } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { openAddress, sealAddress } from './address.ts'
import type { Head } from './lane-store.ts'
import { endedByUs } from './log-entry.ts'
import { mailedLately } from './mail-store.ts'
import type { Prepared } from './prepare.ts'
import type { LoggedAttempt } from './types.ts'

type Ready = Prepared & { head: Head }
type Mail = Ready & { message: MailMessage }
type Owner = { organizationId: string; plan: Plan }
/** An address of one mail, and why it is not sent there; null: it is. */
type Share = { mail: Mail; owner: Owner; address: string; kind: MailKind; isCounted: boolean; why: string | null }

/** `db`: where mails are counted, in transactions of their own */
type Tools = { db: Db; secrets: Secrets; mailRules?: MailRules }

/** `uncounted`: how many mails leave without being counted, by address, because another transaction held the counters */
export type Admitted = { sent: Ready[]; held: { id: string; attempt: LoggedAttempt }[]; uncounted: number }

/** For one counter; counting takes milliseconds. An alert does not wait any longer: it leaves without being counted. */
const COUNTER_LOCK_MS = 100

const NOT_CONFIRMED = 'the address is not confirmed; its owner has to open the link in the confirmation'

/**
 * Keeps mails back from addresses that are not confirmed, and those beyond a limit of the day. Each mail goes to the
 * addresses that are left, and says in the log which are not; one without any is `held`. Other deliveries are
 * not looked at.
 */
export async function admitMails(
  tx: Tx,
  ready: Ready[],
  { db, secrets, mailRules: rules = MAIL_RULES }: Tools,
  now: Date,
): Promise<Admitted> {
  const mails = ready.filter(isMail)
  if (mails.length === 0) return { sent: ready, held: [], uncounted: 0 }
  const shares = await sharesOf(tx, mails, secrets)
  if (rules.confirms) await refuseUnconfirmed(tx, shares)
  const uncounted = await refuseBeyondLimits(tx, db, shares, rules, now)
  const byId = new Map(mails.map(({ id }) => [id, shares.filter(({ mail }) => mail.id === id)]))
  const admitted: Admitted = { sent: [], held: [], uncounted }
  for (const one of ready) {
    const mine = byId.get(one.id)
    if (!mine || !isMail(one)) admitted.sent.push(one)
    else if (mine.some(isSent)) admitted.sent.push(reduced(one, mine, secrets))
    else admitted.held.push({ id: one.id, attempt: endedByUs(reasonsOf(mine), now) })
  }
  return admitted
}

const isMail = (ready: Ready): ready is Mail => ready.message.via === 'mail'
const isSent = ({ why }: Share) => why === null

/** The mail for the addresses that are left. */
function reduced(mail: Mail, shares: Share[], secrets: Secrets): Mail {
  const to = shares.filter(isSent).map(({ address }) => address)
  if (to.length === mail.message.to.length) return mail
  const url = `mailto:${to.map(encodeURI).join(',')}`
  // a status page's own log masks the address
  const isShown = mail.subscriberId === null
  const shown = isShown ? { ...mail.shown, url } : mail.shown
  const address = isShown ? sealAddress(url, mail, secrets) : mail.address
  const leftOut = reasonsOf(shares)
  return { ...mail, message: { ...mail.message, to, url }, shown, address, ...(leftOut !== '' && { leftOut }) }
}

/** "not sent to a@example.com: …; not sent to b@example.com: …". */
const reasonsOf = (shares: Share[]): string =>
  shares.flatMap(({ why, address }) => (why === null ? [] : `not sent to ${address}: ${why}`)).join('; ')

async function sharesOf(tx: Tx, mails: Mail[], secrets: Secrets): Promise<Share[]> {
  const owners = await ownersOf(tx, [...new Set(mails.map(({ projectId }) => projectId))])
  return mails.flatMap(mail => {
    const owner = owners.get(mail.projectId)!
    const { eventName, isReplay, attemptsMade, body } = mail.head
    // a mail that was claimed before was counted then, and goes to the same addresses
    const isAgain = body !== null && !(isReplay && attemptsMade === 0)
    const before = isAgain && mail.subscriberId === null ? addressesIn(addressOf(mail.head, secrets)) : null
    const again = mail.message.to.filter(address => before?.has(addressKey(address)))
    const isCounted = !isAgain || (before !== null && again.length === 0)
    const kind: MailKind =
      mail.subscriberId === null ? 'alert' : eventName === PAGE_CONFIRMATION ? 'page_confirmation' : 'page'
    const to = isCounted || before === null ? mail.message.to : again
    return to.map(address => ({ mail, owner, address, kind, isCounted, why: null }))
  })
}

const addressOf = (head: Head, secrets: Secrets) =>
  head.requestAddress === null ? head.requestUrl : openAddress(head.requestAddress, head, secrets)

function addressesIn(url: string | null): Set<string> {
  if (!url?.startsWith('mailto:')) return new Set()
  return new Set(url.slice('mailto:'.length).split(',').map(decodeURI).map(addressKey))
}

async function ownersOf(tx: Tx, projectIds: string[]): Promise<Map<string, Owner>> {
  const rows = await query<Owner & { projectId: string }>(
    tx,
    `SELECT p.id AS "projectId", o.id AS "organizationId", o.plan
     FROM projects p JOIN organizations o ON o.id = p.organization_id WHERE p.id = ANY (?::uuid[])`,
    [projectIds],
  )
  return new Map(rows.map(({ projectId, ...owner }) => [projectId, owner]))
}

/** Subscribers of pages have confirmed their own way. */
async function refuseUnconfirmed(tx: Tx, shares: Share[]): Promise<void> {
  const alerts = shares.filter(({ kind }) => kind === 'alert')
  if (alerts.length === 0) return
  const trusted = await trustedChannels(tx, [...new Set(alerts.map(({ mail }) => mail.channelId))])
  const asked = alerts.filter(({ mail }) => !trusted.has(mail.channelId))
  const nameOf = (organizationId: string, address: string) => `${organizationId} ${addressKey(address)}`
  const wanted = new Map(
    asked.map(({ owner: { organizationId }, address }) => [
      nameOf(organizationId, address),
      { organizationId, address: addressKey(address) },
    ]),
  )
  const known = await knownAddresses(tx, [...wanted.values()])
  const confirmed = new Set(known.filter(one => one.isConfirmed).map(one => nameOf(one.organizationId, one.address)))
  for (const share of asked)
    if (!confirmed.has(nameOf(share.owner.organizationId, share.address))) share.why = NOT_CONFIRMED
}

/** How many could not be counted; they leave. */
async function refuseBeyondLimits(tx: Tx, db: Db, shares: Share[], { limits }: MailRules, now: Date): Promise<number> {
  const counted = shares.filter(share => share.isCounted && isSent(share))
  const uncounted = await take(db, counted, share => share.kind, limits, now)
  // a flapping monitor must not hide the outage of another one
  const alerts = counted.filter(share => !isSent(share) && share.kind === 'alert')
  const about = alerts.filter(({ mail }) => mail.subject.startsWith('monitor:'))
  const mailed = await mailedLately(
    tx,
    about.map(({ mail }) => mail),
    now,
  )
  const first = about.filter(({ mail }) => !mailed.has(`${mail.channelId} ${mail.subject}`))
  return uncounted + (await take(db, first, () => 'first', limits, now))
}

/**
 * In a transaction of its own: while claims hold other rows, no counter is locked, and a claim that goes silent holds none.
 * When the claim is rolled back its mails stay counted.
 */
async function take(
  db: Db,
  shares: Share[],
  kindOf: (share: Share) => MailKind,
  limits: MailRules['limits'],
  now: Date,
): Promise<number> {
  if (shares.length === 0) return 0
  const wishes = shares.map(share => ({ kind: kindOf(share), ...share.owner, address: addressKey(share.address) }))
  const refusals = await db
    .transaction(async tx => {
      await waitAtMost(tx, COUNTER_LOCK_MS)
      return takeMails(tx, wishes, limits, now)
    })
    .catch(error => {
      if (isLockTimeout(error)) return null
      throw error
    })
  for (const [i, share] of shares.entries()) {
    const refusal = refusals?.[i] ?? null
    share.why = refusal && `${refusal}; replay this delivery tomorrow`
  }
  return refusals === null ? shares.length : 0
}
