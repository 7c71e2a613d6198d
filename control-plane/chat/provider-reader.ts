import type { Egress } from '../../shared/egress/index.ts'
import type { Metrics } from '../../shared/metrics.ts'
import { type ChatAnswer, readChatAnswer } from '../channels/chat-answer.ts'
import { post } from '../platform/http.ts'
import { chatMeters } from './meters.ts'

/** The way to the provider. `apiUrl` has no slash at the end. */
export type Provider = { apiUrl: string; egress: Egress; metrics: Metrics }

/** Who calls: a team's bot, or the app itself. */
export type As = { token: string } | { clientId: string; clientSecret: string }

export type Call = { as: As; fields?: Record<string, string>; timeoutMs?: number }

const TIMEOUT_MS = 5_000
const MOST_BYTES = 4 * 1024 * 1024

/** Calls one method of the provider's API. Never rejects for what the provider does. */
export async function callProvider(
  { apiUrl, egress, metrics }: Provider,
  method: string,
  { as, fields = {}, timeoutMs = TIMEOUT_MS }: Call,
): Promise<ChatAnswer> {
  const posted = {
    url: `${apiUrl}/${method}`,
    headers: {
      authorization: authorizationOf(as),
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      'user-agent': 'Picket-Chat/1',
    },
    body: Buffer.from(new URLSearchParams(fields).toString()),
  }
  const answer = readChatAnswer(await post(posted, timeoutMs, MOST_BYTES, egress))
  chatMeters(metrics).calls.inc({ method, outcome: answer.ok ? 'ok' : outcomeOf(answer.reason) })
  return answer
}

/** Posts to the address that came with a signed request. True when it was taken; never rejects. */
export async function respond(url: string, body: object, timeoutMs: number, { egress, metrics }: Provider) {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) return false
  const headers = { 'content-type': 'application/json', 'user-agent': 'Picket-Chat/1' }
  const posted = { url, headers, body: Buffer.from(JSON.stringify(body)) }
  const { statusCode, error } = await post(posted, timeoutMs, 1_024, egress)
  const isTaken = !error && statusCode === 200
  chatMeters(metrics).calls.inc({ method: 'response_url', outcome: isTaken ? 'ok' : 'refused' })
  return isTaken
}

const OUR_WORDS = ['unreachable', 'unavailable', 'unreadable', 'ratelimited']
const outcomeOf = (reason: string) => (OUR_WORDS.includes(reason) ? reason : 'refused')

function authorizationOf(as: As): string {
  if ('token' in as) return `Bearer ${as.token}`
  return `Basic ${Buffer.from(`${as.clientId}:${as.clientSecret}`).toString('base64')}`
}
