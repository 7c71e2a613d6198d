import { type ChatHttpResponse, isRevoked, isTransient, parseChatResponse } from '../../channels/chat-api-response.ts'
import type { ChatMessage, DeliveryOutcome } from '../types.ts'
import { type AttemptResponse, toHttpOutcome } from './outcome.ts'

/** The token is renewed during this time. */
const TOKEN_RENEWAL_DELAY_MS = 3_000

/**
 * The outcome of a message that the app sent. The provider refuses with status 200, so the error code in its response
 * counts. A temporary error is retried, not earlier than the provider asks for; every other error is final.
 */
export function toChatOutcome(
  httpResponse: AttemptResponse & ChatHttpResponse,
  startedAt: Date,
  hidden: string[],
): DeliveryOutcome {
  const outcome = toHttpOutcome(httpResponse, startedAt, hidden)
  const response = parseChatResponse(httpResponse)
  if (response.ok) return { ...outcome, chat: { ok: true, message: parseChatMessage(response.fields) } }
  const { reason, retryAfterMs } = response
  const isExpired = reason === 'token_expired'
  return {
    ...outcome,
    error: outcome.error ?? (ERROR_MESSAGES[reason] || `the chat refused the message: ${reason}`),
    isPermanent: httpResponse.error ? outcome.isPermanent : !isTransient(reason),
    chat: {
      ok: false,
      fault: isExpired ? 'expired' : isRevoked(reason) ? 'revoked' : null,
      retryAfterMs: isExpired ? TOKEN_RENEWAL_DELAY_MS : retryAfterMs,
    },
  }
}

const ERROR_MESSAGES: Record<string, string> = {
  unavailable: 'the chat service is unavailable',
  unreadable: 'the response of the chat service cannot be read',
  ratelimited: 'the rate limit of the chat service was reached',
  is_archived: 'the chat refused the message: the channel is archived (is_archived); choose another channel',
  channel_not_found:
    'the chat refused the message: the channel does not exist, or it is private and the app is not a member (channel_not_found); invite the app to the channel',
  not_in_channel:
    'the chat refused the message: the app is not a member of the channel (not_in_channel); invite the app to the channel',
}

function parseChatMessage({ channel, ts }: Record<string, unknown>): ChatMessage | null {
  return typeof channel === 'string' && typeof ts === 'string' ? { channel, ts } : null
}
