import type { HttpAnswer } from '../../shared/egress/index.ts'
import type { Outcome } from './types.ts'

/** What the log keeps of an answer, in bytes (decisions 6.3). */
export const SNIPPET_BYTES = 1_024

/** Faults that come back however often one tries. */
const PERMANENT_CODES = ['blocked_target']

/** An HTTP answer, or the lack of one, in the terms of the log. */
export function toOutcome(answer: HttpAnswer, startedAt: Date): Outcome {
  const { statusCode, error, body, totalUs } = answer
  return {
    startedAt,
    durationMs: Math.round(totalUs / 1_000),
    // a receiver that answers and then breaks off has answered, but not whole: like a network error
    responseCode: error ? null : statusCode,
    error: error ? error.message : null,
    isPermanent: error !== null && PERMANENT_CODES.includes(error.code),
    // PostgreSQL's text and JSON have no NUL
    responseSnippet: body ? body.subarray(0, SNIPPET_BYTES).toString('utf8').replaceAll('\0', '\uFFFD') : null,
  }
}
