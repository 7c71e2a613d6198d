import type { Egress } from '../../../../shared/egress/types.ts'
import type { Metrics } from '../../../../shared/process/metrics.ts'
import { type ChatApiResult, parseChatResponse } from '../../../alerting/channels/chat-api-response.ts'
import { httpPost } from '../../../foundation/platform/network/http-client.ts'
import { getChatMetrics } from '../metrics.ts'

/** The API of the provider. `apiUrl` has no trailing slash. */
export type Provider = { apiUrl: string; egress: Egress; metrics: Metrics }

/** Credentials of a call: the bot of a team, or the app itself. */
type ProviderAuth = { token: string } | { clientId: string; clientSecret: string }

type ProviderCall = { as: ProviderAuth; fields?: Record<string, string>; timeoutMs?: number }

const TIMEOUT_MS = 5_000
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024

/** Calls a method of the provider's API. Never rejects because of the provider. */
export async function callProvider(
  { apiUrl, egress, metrics }: Provider,
  method: string,
  { as, fields = {}, timeoutMs = TIMEOUT_MS }: ProviderCall,
): Promise<ChatApiResult> {
  const posted = {
    url: `${apiUrl}/${method}`,
    headers: {
      authorization: buildAuthorization(as),
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      'user-agent': 'Picket-Chat/1',
    },
    body: Buffer.from(new URLSearchParams(fields).toString()),
  }
  const answer = parseChatResponse(await httpPost(posted, timeoutMs, MAX_RESPONSE_BYTES, egress))
  getChatMetrics(metrics).calls.inc({ method, outcome: answer.ok ? 'ok' : toMetricOutcome(answer.reason) })
  return answer
}

/** Posts to the response URL of a signed request. Returns whether it was accepted; never rejects. */
export async function postResponse(url: string, body: object, timeoutMs: number, { egress, metrics }: Provider) {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) return false
  const headers = { 'content-type': 'application/json', 'user-agent': 'Picket-Chat/1' }
  const posted = { url, headers, body: Buffer.from(JSON.stringify(body)) }
  const { statusCode, error } = await httpPost(posted, timeoutMs, 1_024, egress)
  const isAccepted = !error && statusCode === 200
  getChatMetrics(metrics).calls.inc({ method: 'response_url', outcome: isAccepted ? 'ok' : 'refused' })
  return isAccepted
}

const METRIC_OUTCOMES = ['unreachable', 'unavailable', 'unreadable', 'ratelimited']
const toMetricOutcome = (reason: string) => (METRIC_OUTCOMES.includes(reason) ? reason : 'refused')

function buildAuthorization(as: ProviderAuth): string {
  if ('token' in as) return `Bearer ${as.token}`
  return `Basic ${Buffer.from(`${as.clientId}:${as.clientSecret}`).toString('base64')}`
}
