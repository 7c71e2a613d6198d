import { type CheckError, Outcome, type Timings } from '../proto/gen/probe/v1/result.ts'

export {
  type CheckError,
  type FailedAssertion,
  FailureSource,
  Outcome,
  type Result,
  ResultBatch,
  type Timings,
  Trigger,
} from '../proto/gen/probe/v1/result.ts'

/** Outcomes as the API and the history call them (decisions 3.6). */
export const STATUS_OF_OUTCOME = {
  [Outcome.UP]: 'up',
  [Outcome.DOWN]: 'down',
  [Outcome.DEGRADED]: 'degraded',
  [Outcome.UNKNOWN]: 'unknown',
  [Outcome.MISSED]: 'missed',
} as const
export type CheckStatus = (typeof STATUS_OF_OUTCOME)[Outcome]
export const CHECK_STATUSES: readonly CheckStatus[] = Object.values(STATUS_OF_OUTCOME)

/** What one check saw. `error` null means the target answered as its type asks; assertions come after. */
export type Observation = {
  error: CheckError | null
  /** microseconds by the monotonic clock; the phases add up to `totalUs` */
  timings: Timings
  totalUs: number
  statusCode: number | null
  /** names in lower case, repeated headers joined by ", " */
  headers: Record<string, string> | null
  /** after decompression, cut at BODY_LIMIT_BYTES */
  body: Buffer | null
  resolvedIp: string | null
  certificate: CertificateSeen | null
}

export type CertificateSeen = {
  subject: string
  issuer: string
  /** ms since 1970 */
  validTo: number
}
