import { isPassing } from '../channels/chat-answer.ts'
import type { Db } from '../platform/postgres.ts'
import type { Secrets } from '../platform/secrets.ts'
import { botOf } from './bot.ts'
import { forgetMessage, type Served, servedButtons } from './button-store.ts'
import { withoutButton } from './click.ts'
import { callProvider, type Provider } from './provider-reader.ts'

type Tools = { db: Db; secrets: Secrets; provider: Provider }

/**
 * Takes buttons away that have served: their incidents are acknowledged or over, by whichever way. A team in trouble is
 * left for the next round, without the others; to do it twice changes nothing.
 */
export async function clearButtons(tools: Tools): Promise<void> {
  const troubled = new Set<string>()
  for (const served of await servedButtons(tools.db)) {
    const { id } = served.installation
    if (troubled.has(id)) continue
    if (await clear(tools, served)) await forgetMessage(tools.db, served.deliveryId)
    else troubled.add(id)
  }
}

/** False when it may work later. */
async function clear({ secrets, provider }: Tools, served: Served): Promise<boolean> {
  const { installation, message, body, incidentId } = served
  const { text, blocks } = JSON.parse(body.toString('utf8')) as { text: string; blocks: unknown[] }
  const changed = JSON.stringify(withoutButton(blocks, incidentId, lineOf(served)))
  const answer = await callProvider(provider, 'chat.update', {
    as: botOf(installation, secrets),
    fields: { ...message, text, blocks: changed },
  })
  return answer.ok || !isPassing(answer.reason)
}

function lineOf({ status, chatUserId }: Served): string {
  if (status === null) return 'The incident was deleted'
  if (status === 'resolved') return 'Resolved'
  return chatUserId === null ? 'Acknowledged' : `Acknowledged by <@${chatUserId}>`
}
