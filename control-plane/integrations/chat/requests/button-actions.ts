import type { Log } from '../../../../shared/process/log.ts'
import { type ChatApiResult, isTransient } from '../../../alerting/channels/chat-api-response.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { tryInstallation } from '../installations/try-installation.ts'
import { getBotAuth } from '../provider/bot-token.ts'
import { callProvider, type Provider } from '../provider/provider-reader.ts'
import { removeButton } from './button-click.ts'
import { clearChatMessage, listObsoleteButtons, type ObsoleteButton } from './button-store.ts'

type Tools = { db: Db; secrets: SecretCipher; provider: Provider; log: Log }
type Refusal = Extract<ChatApiResult, { ok: false }>

/** Minimum delay after a refusal of the provider for a team. */
const MIN_RETRY_DELAY_MS = 10_000
/** Delay after an internal error. */
const FAULT_RETRY_DELAY_MS = 600_000

/**
 * Creates a function that removes obsolete buttons: their incidents are acknowledged, resolved or deleted. A team whose
 * provider refuses waits as long as the provider asks, without delaying other teams. It is idempotent.
 */
export function createButtonCleaner(tools: Tools): (now: Date) => Promise<void> {
  const deferredUntilMs = new Map<string, number>()
  return async now => {
    for (const [id, untilMs] of deferredUntilMs) if (untilMs <= now.getTime()) deferredUntilMs.delete(id)
    for (const button of await listObsoleteButtons(tools.db, [...deferredUntilMs.keys()])) {
      const { id } = button.installation
      if (deferredUntilMs.has(id)) continue
      const defer = (waitMs: number | null) =>
        deferredUntilMs.set(id, now.getTime() + Math.max(MIN_RETRY_DELAY_MS, waitMs ?? 0))
      const isDone = await tryInstallation(tools.log, id, async () => {
        const refusal = await updateMessage(tools, button)
        if (refusal === null) await clearChatMessage(tools.db, button.deliveryId)
        else defer(refusal.retryAfterMs)
      })
      if (!isDone) defer(FAULT_RETRY_DELAY_MS)
    }
  }
}

/** Removes the button from its message. Returns a refusal that may be temporary, else null. */
async function updateMessage({ secrets, provider }: Tools, button: ObsoleteButton): Promise<Refusal | null> {
  const { installation, message, body, incidentId } = button
  const { text, blocks } = JSON.parse(body.toString('utf8')) as { text: string; blocks: unknown[] }
  const changed = JSON.stringify(removeButton(blocks, incidentId, describeOutcome(button)))
  const answer = await callProvider(provider, 'chat.update', {
    as: getBotAuth(installation, secrets),
    fields: { ...message, text, blocks: changed },
  })
  return answer.ok || !isTransient(answer.reason) ? null : answer
}

function describeOutcome({ status, chatUserId }: ObsoleteButton): string {
  if (status === null) return 'The incident was deleted'
  if (status === 'resolved') return 'Resolved'
  return chatUserId === null ? 'Acknowledged' : `Acknowledged by <@${chatUserId}>`
}
