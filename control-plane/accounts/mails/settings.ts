import { ConfigError, type Env, integer, oneOf } from '../../../shared/env.ts'
import { byPlan } from '../limit-settings.ts'
import { MAIL_LIMITS, type MailKind, type MailLimits, type MailRules } from './limits.ts'

const PREFIXES: Record<Exclude<MailKind, 'first'>, string> = {
  alert: 'MAILS',
  page: 'PAGE_MAILS',
  confirmation: 'CONFIRMATIONS',
  page_confirmation: 'PAGE_CONFIRMATIONS',
}
const MOST = 1_000_000_000_000

/** Who may be sent mails, and how many in a day. `registration`: who may make accounts. */
export function mailSettings(env: Env, registration: string): MailRules {
  const confirmation = oneOf(env, 'EMAIL_CONFIRMATION', ['on', 'off'], 'on')
  // mail that is only shown on this machine reaches no stranger
  const staysHere = oneOf(env, 'SMTP_IS_LOCAL', ['yes', 'no'], 'no') === 'yes'
  if (confirmation === 'off' && registration === 'open' && !staysHere) {
    throw new ConfigError('EMAIL_CONFIRMATION=off needs REGISTRATION=invited or REGISTRATION=closed')
  }
  const alert = limitsOf(env, 'alert')
  const limits: MailLimits = {
    alert,
    first: alert,
    page: limitsOf(env, 'page'),
    confirmation: limitsOf(env, 'confirmation'),
    page_confirmation: limitsOf(env, 'page_confirmation'),
  }
  return { confirms: confirmation === 'on' && !staysHere, limits }
}

function limitsOf(env: Env, kind: keyof typeof PREFIXES) {
  const prefix = PREFIXES[kind]
  const { organization, recipient, installation } = MAIL_LIMITS[kind]
  return {
    organization: byPlan(env, `${prefix}_PER_ORGANIZATION`, organization),
    recipient: integer(env, `${prefix}_PER_RECIPIENT`, recipient, 0, MOST),
    installation: integer(env, `${prefix}_PER_INSTALLATION`, installation, 0, MOST),
  }
}
