import type { PlanName } from '../../plans/plans.ts'

/**
 * What mails are counted as. `alert`: to alert channels. `first`: an alert beyond those limits about a monitor of which the
 * channel got no mail for an hour. `page`: to subscribers of status pages. `confirmation` and `page_confirmation`:
 * the question whether an address wants mails; invitations count as the first of them.
 */
export const MAIL_KINDS = ['alert', 'first', 'page', 'confirmation', 'page_confirmation'] as const
export type MailKind = (typeof MAIL_KINDS)[number]

/** How many mails leave in a day (UTC); each address that a mail is sent to counts. */
export type MailLimits = Record<
  MailKind,
  {
    organization: Record<PlanName, number>
    /** one address: of one organization, but confirmations of all organizations together */
    recipient: number
    installation: number
  }
>

const alerts = {
  organization: { free: 10_000, pro: 100_000, business: 1_000_000 },
  recipient: 2_000,
  installation: 1_000_000,
}

/** High enough for a bad day of an installation that is used as it is meant (docs/decisions.md, 211). */
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

/** What the installation allows. `confirms` false: each address counts as confirmed. */
export type MailRules = { requiresConfirmation: boolean; limits: MailLimits }
export const MAIL_RULES: MailRules = { requiresConfirmation: true, limits: MAIL_LIMITS }

/** So many alerts of each organization leave also when others have used up the installation's day. */
export const RESERVED_ALERTS_PER_ORGANIZATION = 1_000

export type MailRequest = { kind: MailKind; organizationId: string; plan: PlanName; address: string }

/** How many of each counter's mails were sent today, by the counter's name. */
export type MailCounts = Map<string, number>

/** The counters of one mail to one address. */
export function getCounterNames({ kind, organizationId, address }: MailRequest) {
  const isConfirmation = kind === 'confirmation' || kind === 'page_confirmation'
  return {
    organization: `${kind} organization ${organizationId}`,
    recipient: isConfirmation ? `confirmation recipient ${address}` : `${kind} recipient ${organizationId} ${address}`,
    installation: `${kind} installation`,
  }
}

/** Which limit keeps a mail back, as a text; null: it is counted in `used` and may leave. */
export function admitMail(wish: MailRequest, used: MailCounts, limits: MailLimits): string | null {
  const { kind, plan } = wish
  const limit = limits[kind]
  const { organization, recipient, installation } = getCounterNames(wish)
  const count = (counter: string) => used.get(counter) ?? 0
  const what = KIND_NAMES[kind]
  if (count(recipient) >= limit.recipient) return `at most ${limit.recipient} ${what} a day for one address`
  if (count(organization) >= limit.organization[plan])
    return `at most ${limit.organization[plan]} ${what} a day on the ${plan} plan`
  const isReserved = kind === 'alert' && count(organization) < RESERVED_ALERTS_PER_ORGANIZATION
  if (!isReserved && count(installation) >= limit.installation)
    return `at most ${limit.installation} ${what} a day for the whole installation`
  for (const counter of [organization, recipient, installation]) used.set(counter, count(counter) + 1)
  return null
}

const KIND_NAMES: Record<MailKind, string> = {
  alert: 'mails',
  first: 'mails',
  page: 'mails to subscribers',
  confirmation: 'confirmations',
  page_confirmation: 'confirmations to subscribers',
}

const DAY_MS = 86_400_000

/** Seconds until the next day (UTC) begins. */
export const computeSecondsToNextDay = (now: Date): number => Math.ceil((DAY_MS - (now.getTime() % DAY_MS)) / 1_000)
