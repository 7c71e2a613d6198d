import type { Config } from '../../config.ts'
import { createSigner } from '../../foundation/platform/crypto/signer.ts'
import { STATE_PURPOSE } from '../../integrations/chat/installations/install-state.ts'
import { SUBSCRIBER_KEY_PURPOSE as SUBSCRIBERS } from '../../pages/subscribers/address.ts'
import type { ProcessContext } from './context.ts'

export const buildAccountTools = ({ db, secrets, config, mailer }: ProcessContext) => {
  const { publicUrl, registration, mailRules, limits } = config
  const sendsMail = mailer !== null
  return { db, secrets, publicUrl, sendsMail, registration, mailRules, limits }
}

/** The rules for mails of channels, and whether mail can be sent. */
export const buildMailTools = ({ config: { mailRules }, mailer }: ProcessContext) => ({
  mailRules,
  sendsMail: mailer !== null,
})

/** What a delivery that is not queued is rendered and sent with. */
export const buildDeliveryTools = ({ db, secrets, egress, mailer, config }: ProcessContext) => {
  const { publicUrl, relayUrl, chatApiUrl, mailRules, testsPerMinute } = config
  const { checkLiteral } = egress
  return { db, secrets, egress, checkLiteral, mailer, publicUrl, relayUrl, chatApiUrl, mailRules, testsPerMinute }
}

export function buildPageTools(handles: ProcessContext) {
  const { config, visitorEgress } = handles
  const sign = createSigner(config.secretKey, SUBSCRIBERS)
  return {
    ...handles,
    publicUrl: config.publicUrl,
    limits: config.limits,
    ownHosts: listOwnHosts(config),
    checkLiteral: visitorEgress.checkLiteral,
    sign,
  }
}

export function buildDomainTools({ db, egress, httpsPort, config }: ProcessContext) {
  const lookUpContext = { egress, httpsPort }
  const sign = createSigner(config.secretKey, 'custom domains')
  const { publicUrl, customDomains: settings } = config
  return { db, lookUpContext, settings, ownHosts: listOwnHosts(config), sign, publicUrl }
}

export function buildChatTools({ db, secrets, egress, metrics, config }: ProcessContext) {
  const { publicUrl, chat: settings, chatApiUrl: apiUrl, secretKey } = config
  const sign = createSigner(secretKey, STATE_PURPOSE)
  return { db, secrets, publicUrl, settings, sign, provider: { apiUrl, egress, metrics } }
}

/** The hosts of this installation. */
export const listOwnHosts = ({ publicUrl, customDomains }: Config) => [
  new URL(publicUrl).hostname,
  customDomains.target,
]
