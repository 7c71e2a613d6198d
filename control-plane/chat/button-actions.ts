import type { Log } from '../../shared/log.ts'
import { type ChatAnswer, isPassing } from '../channels/chat-answer.ts'
import type { Db } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { alone } from './alone.ts'
import { botOf } from './bot.ts'
import { forgetMessage, type Served, servedButtons } from './button-store.ts'
import { withoutButton } from './click.ts'
import { callProvider, type Provider } from './provider-reader.ts'

type Tools = { db: Db; secrets: Secrets; provider: Provider; log: Log }
type Refusal = Extract<ChatAnswer, { ok: false }>

/** A team in trouble is asked again after this, if it does not say when itself. */
const REST_MS = 10_000
/** What is our own fault does not pass soon. */
const FAULT_MS = 600_000

/**
 * Takes buttons away that have served: their incidents are acknowledged or over, by whichever way. A team in trouble is
 * left alone for as long as it asks for, without the others; to do it twice changes nothing.
 */
export function createButtonCleaner(tools: Tools): (now: Date) => Promise<void> {
  const restUntilMs = new Map<string, number>()
  return async now => {
    for (const [id, untilMs] of restUntilMs) if (untilMs <= now.getTime()) restUntilMs.delete(id)
    for (const served of await servedButtons(tools.db, [...restUntilMs.keys()])) {
      const { id } = served.installation
      if (restUntilMs.has(id)) continue
      const rest = (waitMs: number | null) => restUntilMs.set(id, now.getTime() + Math.max(REST_MS, waitMs ?? 0))
      const isDone = await alone(tools.log, id, async () => {
        const refusal = await clear(tools, served)
        if (refusal === null) await forgetMessage(tools.db, served.deliveryId)
        else rest(refusal.retryAfterMs)
      })
      if (!isDone) rest(FAULT_MS)
    }
  }
}

/** Null when there is nothing left to do; the refusal when it may work later. */
async function clear({ secrets, provider }: Tools, served: Served): Promise<Refusal | null> {
  const { installation, message, body, incidentId } = served
  const { text, blocks } = JSON.parse(body.toString('utf8')) as { text: string; blocks: unknown[] }
  const changed = JSON.stringify(withoutButton(blocks, incidentId, lineOf(served)))
  const answer = await callProvider(provider, 'chat.update', {
    as: botOf(installation, secrets),
    fields: { ...message, text, blocks: changed },
  })
  return answer.ok || !isPassing(answer.reason) ? null : answer
}

function lineOf({ status, chatUserId }: Served): string {
  if (status === null) return 'The incident was deleted'
  if (status === 'resolved') return 'Resolved'
  return chatUserId === null ? 'Acknowledged' : `Acknowledged by <@${chatUserId}>`
}
