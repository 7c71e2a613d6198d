import type { HttpAnswer } from '../../shared/egress/index.ts'
import { MASK } from '../web/header-map.ts'
import type { Prepared } from './prepare.ts'
import type { Outcome } from './types.ts'

/** What the log keeps of an answer, in bytes (decisions 6.3). */
export const SNIPPET_BYTES = 1_024

/** Faults that come back however often one tries. */
const PERMANENT_CODES = ['blocked_target']

/** What is shorter is no secret to speak of, and may be part of any text. */
const SHORTEST_PART = 4

/** An HTTP answer, or the lack of one, in the terms of the log. `hidden`: texts that must not stand in it. */
export function toOutcome(answer: HttpAnswer, startedAt: Date, hidden: string[]): Outcome {
  const { statusCode, error, body, totalUs } = answer
  return {
    startedAt,
    durationMs: Math.round(totalUs / 1_000),
    // a receiver that answers and then breaks off has answered, but not whole: like a network error
    responseCode: error ? null : statusCode,
    error: error ? error.message : null,
    isPermanent: error !== null && PERMANENT_CODES.includes(error.code),
    responseSnippet: body ? snippetOf(body, hidden) : null,
  }
}

function snippetOf(body: Buffer, hidden: string[]): string {
  // PostgreSQL's text and JSON have no NUL
  const text = body.subarray(0, SNIPPET_BYTES).toString('utf8').replaceAll('\0', '\uFFFD')
  const masked = hidden.reduce((shown, secret) => shown.replaceAll(secret, MASK), text)
  return body.length < SNIPPET_BYTES ? masked : hidden.reduce(withoutBeginning, masked)
}

/** The limit may have cut the text in the middle of a secret. */
function withoutBeginning(text: string, secret: string): string {
  for (let length = secret.length - 1; length >= SHORTEST_PART; length--) {
    if (text.endsWith(secret.slice(0, length))) return text.slice(0, -length) + MASK
  }
  return text
}

/** The values of headers that the log masks: receivers like to repeat what they were sent. */
export function hiddenValues({ headers, maskedHeaders }: Pick<Prepared, 'headers' | 'maskedHeaders'>): string[] {
  const masked = Object.entries(headers).filter(([name]) => maskedHeaders[name] === MASK)
  // "Bearer x" is repeated as x, too
  const texts = masked.flatMap(([, value]) => [value, value.replace(/^\S+ +/, '')])
  return texts.filter(text => text.length >= SHORTEST_PART)
}
