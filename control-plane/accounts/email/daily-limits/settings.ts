import { ConfigError, type Env, readEnum, readInteger } from '../../../../shared/process/env.ts'
import { readPlanLimits } from '../../plans/limit-settings.ts'
import { MAIL_LIMITS, type MailKind, type MailLimits, type MailRules } from './limits.ts'

const PREFIXES: Record<Exclude<MailKind, 'first'>, string> = {
  alert: 'MAILS',
  page: 'PAGE_MAILS',
  confirmation: 'CONFIRMATIONS',
  page_confirmation: 'PAGE_CONFIRMATIONS',
}
const MAX_MAILS = 1_000_000_000_000

/** Reads whether addresses need a confirmation, and the daily limits. `registration`: the value of `REGISTRATION`. */
export function readMailSettings(env: Env, registration: string): MailRules {
  const confirmation = readEnum(env, 'EMAIL_CONFIRMATION', ['on', 'off'], 'on')
  // emails that are only shown on this machine cannot reach other people
  const isLocal = readEnum(env, 'SMTP_IS_LOCAL', ['yes', 'no'], 'no') === 'yes'
  if (confirmation === 'off' && registration === 'open' && !isLocal) {
    throw new ConfigError('EMAIL_CONFIRMATION=off needs REGISTRATION=invited or REGISTRATION=closed')
  }
  const alert = readKindLimits(env, 'alert')
  const limits: MailLimits = {
    alert,
    first: alert,
    page: readKindLimits(env, 'page'),
    confirmation: readKindLimits(env, 'confirmation'),
    page_confirmation: readKindLimits(env, 'page_confirmation'),
  }
  return { requiresConfirmation: confirmation === 'on' && !isLocal, limits }
}

function readKindLimits(env: Env, kind: keyof typeof PREFIXES) {
  const prefix = PREFIXES[kind]
  const { organization, recipient, installation } = MAIL_LIMITS[kind]
  return {
    organization: readPlanLimits(env, `${prefix}_PER_ORGANIZATION`, organization),
    recipient: readInteger(env, `${prefix}_PER_RECIPIENT`, recipient, 0, MAX_MAILS),
    installation: readInteger(env, `${prefix}_PER_INSTALLATION`, installation, 0, MAX_MAILS),
  }
}
