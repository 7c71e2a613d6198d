import { STATE_PURPOSE } from '../chat/state.ts'
import type { Config } from '../config.ts'
import { createSigner } from '../platform/signer.ts'
import type { Handles } from '../start.ts'
import { PURPOSE as SUBSCRIBERS } from '../status-pages/subscribers/address.ts'

export const accountTools = ({ db, secrets, config, mailer }: Handles) => {
  const { publicUrl, registration, mailRules, limits } = config
  const sendsMail = mailer !== null
  return { db, secrets, publicUrl, sendsMail, registration, mailRules, limits }
}

/** Whom mails of channels may be sent to, and what asks their addresses. */
export const mailTools = ({ config: { mailRules }, mailer }: Handles) => ({ mailRules, sendsMail: mailer !== null })

export function pageTools(handles: Handles) {
  const { config, visitorEgress } = handles
  const sign = createSigner(config.secretKey, SUBSCRIBERS)
  return {
    ...handles,
    publicUrl: config.publicUrl,
    limits: config.limits,
    ownHosts: ownHosts(config),
    checkLiteral: visitorEgress.checkLiteral,
    sign,
  }
}

export function domainTools({ db, egress, config }: Handles) {
  const world = { egress, httpsPort: 443 }
  const sign = createSigner(config.secretKey, 'custom domains')
  const { publicUrl, customDomains: settings } = config
  return { db, world, settings, ownHosts: ownHosts(config), sign, publicUrl }
}

export function chatTools({ db, secrets, egress, metrics, config }: Handles) {
  const { publicUrl, chat: settings, chatApiUrl: apiUrl, secretKey } = config
  const sign = createSigner(secretKey, STATE_PURPOSE)
  return { db, secrets, publicUrl, settings, sign, provider: { apiUrl, egress, metrics } }
}

/** Where this installation itself is reached. */
export const ownHosts = ({ publicUrl, customDomains }: Config) => [new URL(publicUrl).hostname, customDomains.target]
