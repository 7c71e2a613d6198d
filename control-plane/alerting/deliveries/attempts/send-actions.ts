import type { Connections } from '../../../../shared/egress/index.ts'
import type { Egress } from '../../../../shared/egress/types.ts'
import type { Mailer } from '../../../foundation/platform/mail/mailer.ts'
import { httpPost } from '../../../foundation/platform/network/http-client.ts'
import type { OwnFaultDetector } from '../../../foundation/platform/network/own-faults.ts'
import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import type { HttpMessage, MailContent, MailMessage } from '../../channels/types.ts'
import type { DeliveryTiming } from '../queue/lanes.ts'
import type { PreparedDelivery } from '../rendering/prepare.ts'
import type { DeliveryOutcome } from '../types.ts'
import { toChatOutcome } from './chat-outcome.ts'
import {
  listSecretValues,
  MAX_SNIPPET_BYTES,
  NO_MAILER,
  toHttpOutcome,
  toMailOutcome,
  withOwnFault,
} from './outcome.ts'
import type { ReportOwnFault } from './own-fault-actions.ts'

/** The transports of messages. `visitorEgress` is for subscribers of status pages. `mailer` null: no mail server is configured. */
export type DeliveryTransports = {
  egress: Egress
  visitorEgress: Egress
  mailer: Mailer | null
  connections: Connections
  timing: DeliveryTiming
  ownFaults: OwnFaultDetector
  reportOwnFault: ReportOwnFault
}

/** A chat's provider repeats the message in its response. */
const MAX_CHAT_RESPONSE_BYTES = 256 * 1024

/**
 * Makes one attempt by HTTP or mail. Never rejects because of the receiver. Null: nothing was sent, because all connections
 * to the mail server stayed busy.
 */
export async function sendMessage(
  prepared: PreparedDelivery,
  startedAt: Date,
  transports: DeliveryTransports,
): Promise<DeliveryOutcome | null> {
  const { message } = prepared
  const outcome =
    message.via === 'mail'
      ? await sendMail(message, startedAt, transports, listSecretValues(prepared))
      : await sendHttp(prepared, message, startedAt, transports)
  if (outcome?.ownFault) transports.reportOwnFault(outcome.ownFault, outcome.error ?? '', monotonicMs())
  return outcome && withOmittedRecipients(outcome, prepared.leftOut)
}

async function sendHttp(
  prepared: PreparedDelivery,
  message: HttpMessage,
  startedAt: Date,
  transports: DeliveryTransports,
): Promise<DeliveryOutcome> {
  const maxBytes = message.byApp ? MAX_CHAT_RESPONSE_BYTES : MAX_SNIPPET_BYTES
  const egress = prepared.subscriberId === null ? transports.egress : transports.visitorEgress
  const response = await httpPost(message, transports.timing.attemptTimeoutMs, maxBytes, egress, transports.connections)
  const toOutcome = message.byApp ? toChatOutcome : toHttpOutcome
  const outcome = toOutcome(response, startedAt, listSecretValues(prepared))
  return withOwnFault(outcome, transports.ownFaults.inspect(new URL(message.url).hostname, response, monotonicMs()))
}

const withOmittedRecipients = (outcome: DeliveryOutcome, leftOut: string | undefined): DeliveryOutcome =>
  leftOut === undefined ? outcome : { ...outcome, error: [outcome.error, leftOut].filter(Boolean).join('; ') }

async function sendMail(
  message: MailMessage,
  startedAt: Date,
  { mailer, timing }: Pick<DeliveryTransports, 'mailer' | 'timing'>,
  hidden: string[],
): Promise<DeliveryOutcome | null> {
  if (mailer === null) return { ...NO_MAILER, startedAt }
  const content = JSON.parse(message.body.toString('utf8')) as MailContent
  const { message_id: messageId, unsubscribe_url: unsubscribeUrl, ...texts } = content
  const result = await mailer.send({ to: message.to, messageId, unsubscribeUrl, ...texts }, timing.attemptTimeoutMs)
  return result && toMailOutcome(result, startedAt, hidden)
}
