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

/** A team in trouble is asked again after this, if it does not say when itself. */
const MIN_RETRY_DELAY_MS = 10_000
/** What is our own fault does not pass soon. */
const FAULT_RETRY_DELAY_MS = 600_000

/**
 * Takes buttons away that have served: their incidents are acknowledged or over, by whichever way. A team in trouble is
 * left alone for as long as it asks for, without the others; to do it twice changes nothing.
 */
export function createButtonCleaner(tools: Tools): (now: Date) => Promise<void> {
  const restUntilMs = new Map<string, number>()
  return async now => {
    for (const [id, untilMs] of restUntilMs) if (untilMs <= now.getTime()) restUntilMs.delete(id)
    for (const served of await listObsoleteButtons(tools.db, [...restUntilMs.keys()])) {
      const { id } = served.installation
      if (restUntilMs.has(id)) continue
      const rest = (waitMs: number | null) =>
        restUntilMs.set(id, now.getTime() + Math.max(MIN_RETRY_DELAY_MS, waitMs ?? 0))
      const isDone = await tryInstallation(tools.log, id, async () => {
        const refusal = await clear(tools, served)
        if (refusal === null) await clearChatMessage(tools.db, served.deliveryId)
        else rest(refusal.retryAfterMs)
      })
      if (!isDone) rest(FAULT_RETRY_DELAY_MS)
    }
  }
}

/** Null when there is nothing left to do; the refusal when it may work later. */
async function clear({ secrets, provider }: Tools, served: ObsoleteButton): Promise<Refusal | null> {
  const { installation, message, body, incidentId } = served
  const { text, blocks } = JSON.parse(body.toString('utf8')) as { text: string; blocks: unknown[] }
  const changed = JSON.stringify(removeButton(blocks, incidentId, describeOutcome(served)))
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
