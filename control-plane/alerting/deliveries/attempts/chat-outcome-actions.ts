import { execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { lockChatInstallations, scheduleMatches } from '../../channels/chat-match-store.ts'
import { ACKNOWLEDGE_ACTION } from '../../channels/kinds/slack-layout.ts'
import type { PreparedDelivery } from '../rendering/prepare.ts'
import type { ChatMessage, DeliveryOutcome } from '../types.ts'

type SentDelivery = { prepared: PreparedDelivery; outcome: DeliveryOutcome }

/**
 * Applies the responses of a chat's provider: marks an installation whose app was removed, renews an expired token, and
 * stores the position of a message with a button, so that the message can be changed after the button is used.
 */
export async function applyChatOutcomes(tx: Tx, sent: SentDelivery[], now: Date): Promise<void> {
  const faults: InstallationFault[] = []
  const messages: { id: string; message: ChatMessage }[] = []
  for (const { prepared, outcome } of sent) {
    const { chat } = outcome
    if (chat?.ok === false && chat.fault !== null)
      faults.push({ ...prepared.chat!, projectId: prepared.projectId, fault: chat.fault })
    if (chat?.ok && chat.message && hasButton(prepared)) messages.push({ id: prepared.id, message: chat.message })
  }
  if (faults.length > 0) await recordInstallationFaults(tx, faults, now)
  if (messages.length > 0) await storeChatMessages(tx, messages)
}

type InstallationFault = { id: string; projectId: string; tokens: string; fault: 'revoked' | 'expired' }

/** Quotation marks in texts of users are escaped in JSON, so such a text cannot match. */
const hasButton = ({ message }: PreparedDelivery) => message.body.includes(`"action_id":"${ACKNOWLEDGE_ACTION}"`)

/** Direct messages of a revoked installation are sent through another one of the project, after its next match. */
async function recordInstallationFaults(tx: Tx, faults: InstallationFault[], now: Date): Promise<void> {
  await lockChatInstallations(
    tx,
    faults.map(({ projectId }) => projectId),
  )
  const revokedIn: string[] = []
  for (const fault of faults) if (await recordInstallationFault(tx, fault, now)) revokedIn.push(fault.projectId)
  await scheduleMatches(tx, revokedIn, now)
  await execute(tx, `SELECT pg_notify('chat', '')`)
}

/**
 * Returns whether the installation is revoked now. Changes nothing when the stored tokens are not the refused ones: the app may
 * have been installed again.
 */
async function recordInstallationFault(tx: Tx, { id, tokens, fault }: InstallationFault, now: Date): Promise<boolean> {
  const [changed] = await query<{ isRevoked: boolean }>(
    tx,
    `UPDATE chat_installations SET
       renew_at = CASE WHEN :isExpired THEN least(renew_at, :now) ELSE renew_at END,
       revoked_at = CASE WHEN NOT :isExpired OR renew_at IS NULL THEN :now ELSE revoked_at END,
       updated_at = :now
     WHERE id = :id AND tokens = decode(:tokens, 'hex') AND revoked_at IS NULL
     RETURNING revoked_at IS NOT NULL AS "isRevoked"`,
    { id, tokens, isExpired: fault === 'expired', now },
  )
  return changed?.isRevoked ?? false
}

async function storeChatMessages(tx: Tx, messages: { id: string; message: ChatMessage }[]): Promise<void> {
  await execute(
    tx,
    `UPDATE deliveries d SET chat_message = r.message
     FROM jsonb_to_recordset(:rows::jsonb) AS r (id text, message jsonb) WHERE d.id = r.id`,
    { rows: JSON.stringify(messages) },
  )
}
