import { execute, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { ACKNOWLEDGE_ACTION } from '../../channels/kinds/slack-layout.ts'
import type { PreparedDelivery } from '../rendering/prepare.ts'
import type { ChatMessage, DeliveryOutcome } from '../types.ts'

type SentDelivery = { prepared: PreparedDelivery; outcome: DeliveryOutcome }

/**
 * What the answers of a chat's provider mean beyond their deliveries: an app that was removed is marked so, a token that
 * is over is renewed, and of a message with a button it is kept where it stands, until the button has served.
 */
export async function applyChatOutcomes(tx: Tx, sent: SentDelivery[], now: Date): Promise<void> {
  const faults: InstallationFault[] = []
  const messages: { id: string; message: ChatMessage }[] = []
  for (const { prepared, outcome } of sent) {
    const { chat } = outcome
    if (chat?.ok === false && chat.fault !== null) faults.push({ ...prepared.chat!, fault: chat.fault })
    if (chat?.ok && chat.message && hasButton(prepared)) messages.push({ id: prepared.id, message: chat.message })
  }
  for (const fault of faults.sort((a, b) => (a.id < b.id ? -1 : 1))) await recordInstallationFault(tx, fault, now)
  if (messages.length > 0) await storeChatMessages(tx, messages)
}

type InstallationFault = { id: string; tokens: string; fault: 'revoked' | 'expired' }

/** What users wrote has its quotation marks escaped in JSON, so it cannot look like this. */
const hasButton = ({ message }: PreparedDelivery) => message.body.includes(`"action_id":"${ACKNOWLEDGE_ACTION}"`)

/** Only while its tokens are the ones that were refused: the app may have been installed anew. */
async function recordInstallationFault(tx: Tx, { id, tokens, fault }: InstallationFault, now: Date): Promise<void> {
  await execute(
    tx,
    `UPDATE chat_installations SET
       renew_at = CASE WHEN :isExpired THEN least(renew_at, :now) ELSE renew_at END,
       revoked_at = CASE WHEN NOT :isExpired OR renew_at IS NULL THEN :now ELSE revoked_at END,
       updated_at = :now
     WHERE id = :id AND tokens = decode(:tokens, 'hex') AND revoked_at IS NULL`,
    { id, tokens, isExpired: fault === 'expired', now },
  )
  await execute(tx, `SELECT pg_notify('chat', '')`)
}

async function storeChatMessages(tx: Tx, messages: { id: string; message: ChatMessage }[]): Promise<void> {
  await execute(
    tx,
    `UPDATE deliveries d SET chat_message = r.message
     FROM jsonb_to_recordset(:rows::jsonb) AS r (id text, message jsonb) WHERE d.id = r.id`,
    { rows: JSON.stringify(messages) },
  )
}
