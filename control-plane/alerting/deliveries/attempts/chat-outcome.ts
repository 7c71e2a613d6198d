import { type ChatHttpResponse, isRevoked, isTransient, parseChatResponse } from '../../channels/chat-api-response.ts'
import type { ChatMessage, DeliveryOutcome } from '../types.ts'
import { type AttemptResponse, toHttpOutcome } from './outcome.ts'

/** Somebody renews the token meanwhile. */
const TOKEN_RENEWAL_DELAY_MS = 3_000

/**
 * What came of a message that the app sent: the provider refuses with status 200, so its own words count. What may pass
 * is tried again, not before the provider wants it; all else is final.
 */
export function toChatOutcome(
  answer: AttemptResponse & ChatHttpResponse,
  startedAt: Date,
  hidden: string[],
): DeliveryOutcome {
  const outcome = toHttpOutcome(answer, startedAt, hidden)
  const said = parseChatResponse(answer)
  if (said.ok) return { ...outcome, chat: { ok: true, message: parseChatMessage(said.fields) } }
  const { reason, retryAfterMs } = said
  const isExpired = reason === 'token_expired'
  return {
    ...outcome,
    error: outcome.error ?? (ERROR_MESSAGES[reason] || `the chat refused it: ${reason}`),
    isPermanent: answer.error ? outcome.isPermanent : !isTransient(reason),
    chat: {
      ok: false,
      fault: isExpired ? 'expired' : isRevoked(reason) ? 'revoked' : null,
      retryAfterMs: isExpired ? TOKEN_RENEWAL_DELAY_MS : retryAfterMs,
    },
  }
}

const ERROR_MESSAGES: Record<string, string> = {
  unavailable: 'the chat service is out of order',
  unreadable: 'the chat service gave an answer that cannot be read',
  ratelimited: 'the chat takes no more messages at the moment',
  is_archived: 'the chat refused it: the channel is archived (is_archived); choose another one',
  channel_not_found:
    'the chat refused it: the channel is gone, or private without the app in it (channel_not_found); invite it there',
  not_in_channel: 'the chat refused it: the app is not in the channel (not_in_channel); invite it there',
}

function parseChatMessage({ channel, ts }: Record<string, unknown>): ChatMessage | null {
  return typeof channel === 'string' && typeof ts === 'string' ? { channel, ts } : null
}
