import type { PlanName } from '../../plans/plans.ts'

/**
 * Kinds of emails that are counted separately. `alert`: to alert channels. `first`: an alert above these limits about a monitor
 * for which the channel received no email for an hour. `page`: to subscribers of status pages. `confirmation` and
 * `page_confirmation`: requests to confirm an address; invitations count as `confirmation`.
 */
const MAIL_KINDS = ['alert', 'first', 'page', 'confirmation', 'page_confirmation'] as const
export type MailKind = (typeof MAIL_KINDS)[number]

/** How many emails are sent in a day (UTC). Each recipient counts. */
export type MailLimits = Record<
  MailKind,
  {
    organization: Record<PlanName, number>
    /** for one address and organization; confirmations are counted for one address over all organizations */
    recipient: number
    installation: number
  }
>

const alerts = {
  organization: { free: 10_000, pro: 100_000, business: 1_000_000 },
  recipient: 2_000,
  installation: 1_000_000,
}

/** High enough for a bad day of normal use (docs/design/accounts.md#daily-limits). */
export const MAIL_LIMITS: MailLimits = {
  alert: alerts,
  first: alerts,
  page: {
    organization: { free: 50_000, pro: 500_000, business: 5_000_000 },
    recipient: 500,
    installation: 5_000_000,
  },
  confirmation: { organization: { free: 50, pro: 200, business: 1_000 }, recipient: 10, installation: 20_000 },
  page_confirmation: {
    organization: { free: 5_000, pro: 25_000, business: 50_000 },
    recipient: 10,
    installation: 100_000,
  },
}

/** The rules of an installation. `requiresConfirmation` false: every address counts as confirmed. */
export type MailRules = { requiresConfirmation: boolean; limits: MailLimits }
export const MAIL_RULES: MailRules = { requiresConfirmation: true, limits: MAIL_LIMITS }

/** These alerts of each organization are sent even when the installation's limit is reached. */
const RESERVED_ALERTS_PER_ORGANIZATION = 1_000

export type MailRequest = { kind: MailKind; organizationId: string; plan: PlanName; address: string }

/** Emails counted today, by the counter's name. */
export type MailCounts = Map<string, number>

/** Returns the names of the counters of one email to one address. */
export function getCounterNames({ kind, organizationId, address }: MailRequest) {
  const isConfirmation = kind === 'confirmation' || kind === 'page_confirmation'
  return {
    organization: `${kind} organization ${organizationId}`,
    recipient: isConfirmation ? `confirmation recipient ${address}` : `${kind} recipient ${organizationId} ${address}`,
    installation: `${kind} installation`,
  }
}

/** Returns the limit that prevents an email, as text. Null: the email is counted in `used` and may be sent. */
export function admitMail(request: MailRequest, used: MailCounts, limits: MailLimits): string | null {
  const { kind, plan } = request
  const limit = limits[kind]
  const { organization, recipient, installation } = getCounterNames(request)
  const count = (counter: string) => used.get(counter) ?? 0
  const what = KIND_NAMES[kind]
  if (count(recipient) >= limit.recipient) return `at most ${limit.recipient} ${what} a day to one address`
  if (count(organization) >= limit.organization[plan])
    return `at most ${limit.organization[plan]} ${what} a day on the ${plan} plan`
  const isReserved = kind === 'alert' && count(organization) < RESERVED_ALERTS_PER_ORGANIZATION
  if (!isReserved && count(installation) >= limit.installation)
    return `at most ${limit.installation} ${what} a day for the whole installation`
  for (const counter of [organization, recipient, installation]) used.set(counter, count(counter) + 1)
  return null
}

const KIND_NAMES: Record<MailKind, string> = {
  alert: 'emails',
  first: 'emails',
  page: 'emails to subscribers',
  confirmation: 'confirmations',
  page_confirmation: 'confirmations to subscribers',
}

const DAY_MS = 86_400_000

/** Seconds until the next day (UTC). */
export const computeSecondsToNextDay = (now: Date): number => Math.ceil((DAY_MS - (now.getTime() % DAY_MS)) / 1_000)
