import { hasControlCharacter } from '../../../shared/control-characters.ts'
import { findUrlProblem } from '../../alerting/channels/config/url-validation.ts'
import type { CheckLiteral } from '../../alerting/channels/types.ts'
import type { Signer } from '../../foundation/platform/crypto/signer.ts'
import type { SubscriptionKind } from './types.ts'

/** The address of a subscriber in its stored form. Addresses are compared without regard to case. */
export type SubscriberAddress = { kind: SubscriptionKind; text: string }

const MAX_EMAIL_LENGTH = 254
const MAX_URL_LENGTH = 2_048

// without control characters, one plain address that no header, list or SMTP command can read as more than one
const EMAIL = /^[^ <>()[\]\\,;:"@]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/i

/** The address in a form, or the problem as a sentence. */
export function parseAddress(
  form: { email: string; webhook: string },
  checkLiteral: CheckLiteral,
): { address: SubscriberAddress } | { problem: string } {
  const [email, webhook] = [form.email.trim(), form.webhook.trim()]
  if (email !== '' && webhook !== '') return { problem: 'Enter an email address or a webhook address, not both.' }
  if (webhook !== '') return parseWebhook(webhook, checkLiteral)
  if (email.length > MAX_EMAIL_LENGTH || !EMAIL.test(email) || hasControlCharacter(email))
    return { problem: 'This is not a valid email address.' }
  const at = email.lastIndexOf('@')
  return { address: { kind: 'email', text: `${email.slice(0, at)}@${email.slice(at + 1).toLowerCase()}` } }
}

function parseWebhook(text: string, checkLiteral: CheckLiteral) {
  const problem = text.length > MAX_URL_LENGTH ? 'is too long' : findUrlProblem(text, checkLiteral, 'The address')
  if (problem !== null) return { problem: `This webhook address is not accepted: ${problem}.` }
  return { address: { kind: 'webhook' as const, text: new URL(text).href } }
}

/** The key purpose of the signer that hashes addresses (platform/crypto/signer.ts). */
export const SUBSCRIBER_KEY_PURPOSE = 'page subscribers'

/** The keyed hash by which an address is found; mail addresses in lower case. */
export function hashAddress({ kind, text }: SubscriberAddress, sign: Signer): Buffer {
  return Buffer.from(sign(`${kind} ${kind === 'email' ? text.toLowerCase() : text}`), 'base64url')
}
