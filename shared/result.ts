import type { CheckError, Timings } from '../proto/gen/probe/v1/result.ts'

export {
  type Certificate,
  type CheckError,
  type DnsAnswer,
  type Evidence,
  type FailedAssertion,
  FailureSource,
  Outcome,
  type PingStats,
  type Result,
  ResultBatch,
  type Timings,
  Trigger,
} from '../proto/gen/probe/v1/result.ts'

/** A result without any of the details that only some checks have. */
export const NO_DETAILS = {
  evidence: undefined,
  certificate: undefined,
  ping: undefined,
  dns: undefined,
  screenshotId: '',
} as const

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
