import type { Connections, Egress } from '../../shared/egress/index.ts'
import type { MailContent, MailMessage } from '../channels/types.ts'
import { post } from '../platform/http.ts'
import type { Mailer } from '../platform/mail.ts'
import { toChatOutcome } from './chat-outcome.ts'
import { hiddenValues, NO_MAILER, SNIPPET_BYTES, toMailOutcome, toOutcome } from './outcome.ts'
import type { Prepared } from './prepare.ts'
import type { Outcome } from './types.ts'

/** What carries messages. `visitorEgress` is for subscribers of status pages. `mailer` null: no mail server is configured. */
export type Carriers = { egress: Egress; visitorEgress: Egress; mailer: Mailer | null; connections: Connections }

/** A receiver's time for the whole of its answer (specification, "Delivery and retries" 1). */
const TIMEOUT_MS = 10_000

/** A chat's provider repeats the message in its answer. */
const CHAT_ANSWER_BYTES = 256 * 1024

/** Makes one attempt, by whatever its message goes. Never rejects for what the receiver does. */
export async function sendMessage(prepared: Prepared, startedAt: Date, carriers: Carriers): Promise<Outcome> {
  const { message } = prepared
  if (message.via === 'mail') {
    const outcome = await sendMail(message, startedAt, carriers.mailer, hiddenValues(prepared))
    return withLeftOut(outcome, prepared.leftOut)
  }
  const mostBytes = message.byApp ? CHAT_ANSWER_BYTES : SNIPPET_BYTES
  const egress = prepared.subscriberId === null ? carriers.egress : carriers.visitorEgress
  const answer = await post(message, TIMEOUT_MS, mostBytes, egress, carriers.connections)
  if (message.byApp) return toChatOutcome(answer, startedAt, hiddenValues(prepared))
  return toOutcome(answer, startedAt, hiddenValues(prepared))
}

const withLeftOut = (outcome: Outcome, leftOut: string | undefined): Outcome =>
  leftOut === undefined ? outcome : { ...outcome, error: [outcome.error, leftOut].filter(Boolean).join('; ') }

async function sendMail(
  message: MailMessage,
  startedAt: Date,
  mailer: Mailer | null,
  hidden: string[],
): Promise<Outcome> {
  if (mailer === null) return { ...NO_MAILER, startedAt }
  const content = JSON.parse(message.body.toString('utf8')) as MailContent
  const { message_id: messageId, unsubscribe_url: unsubscribeUrl, ...said } = content
  const answer = await mailer.send({ to: message.to, messageId, unsubscribeUrl, ...said }, TIMEOUT_MS)
  return toMailOutcome(answer, startedAt, hidden)
}
