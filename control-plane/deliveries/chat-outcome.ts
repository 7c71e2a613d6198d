import { type Answered, isPassing, isRevoked, readChatAnswer } from '../channels/chat-answer.ts'
import { type Answer, toOutcome } from './outcome.ts'
import type { ChatMessage, Outcome } from './types.ts'

/** Somebody renews the token meanwhile. */
const RENEWING_MS = 3_000

/**
 * What came of a message that the app sent: the provider refuses with status 200, so its own words count. What may pass
 * is tried again, not before the provider wants it; all else is final.
 */
export function toChatOutcome(answer: Answer & Answered, startedAt: Date, hidden: string[]): Outcome {
  const outcome = toOutcome(answer, startedAt, hidden)
  const said = readChatAnswer(answer)
  if (said.ok) return { ...outcome, chat: { ok: true, message: messageOf(said.fields) } }
  const { reason, retryAfterMs } = said
  const isExpired = reason === 'token_expired'
  return {
    ...outcome,
    error: outcome.error ?? (SENTENCES[reason] || `the chat refused it: ${reason}`),
    isPermanent: answer.error ? outcome.isPermanent : !isPassing(reason),
    chat: {
      ok: false,
      fault: isExpired ? 'expired' : isRevoked(reason) ? 'revoked' : null,
      retryAfterMs: isExpired ? RENEWING_MS : retryAfterMs,
    },
  }
}

const SENTENCES: Record<string, string> = {
  unavailable: 'the chat service is out of order',
  unreadable: 'the chat service gave an answer that cannot be read',
  ratelimited: 'the chat takes no more messages at the moment',
  is_archived: 'the chat refused it: the channel is archived (is_archived); choose another one',
  channel_not_found:
    'the chat refused it: the channel is gone, or private without the app in it (channel_not_found); invite it there',
  not_in_channel: 'the chat refused it: the app is not in the channel (not_in_channel); invite it there',
}

function messageOf({ channel, ts }: Record<string, unknown>): ChatMessage | null {
  return typeof channel === 'string' && typeof ts === 'string' ? { channel, ts } : null
}
