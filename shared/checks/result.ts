import type { X509Certificate } from 'node:crypto'
import {
  type CheckError,
  type DnsAnswer,
  Outcome,
  type PingStats,
  type Result,
  type Timings,
} from '../../proto/gen/probe/v1/result.ts'

export {
  type Certificate,
  type CheckError,
  type DnsAnswer,
  type DnsRecord,
  type Evidence,
  type FailedAssertion,
  FailureSource,
  Outcome,
  type PingStats,
  type Result,
  ResultBatch,
  type Timings,
  Trigger,
} from '../../proto/gen/probe/v1/result.ts'

/** Names of outcomes in the API and the history. */
export const STATUS_OF_OUTCOME = {
  [Outcome.UP]: 'up',
  [Outcome.DOWN]: 'down',
  [Outcome.DEGRADED]: 'degraded',
  [Outcome.UNKNOWN]: 'unknown',
  [Outcome.MISSED]: 'missed',
} as const
export type CheckStatus = (typeof STATUS_OF_OUTCOME)[Outcome]
export const CHECK_STATUSES: readonly CheckStatus[] = Object.values(STATUS_OF_OUTCOME)

/** The optional fields of a result, all unset. */
export const NO_DETAILS = {
  evidence: undefined,
  certificate: undefined,
  ping: undefined,
  dns: undefined,
  screenshotId: '',
} as const

/** Codes of checks on demand that a probe did not run. They contain no information about the target. */
const RUN_REFUSALS = ['not_assigned', 'probe_not_ready', 'probe_busy'] as const
export type RunRefusal = (typeof RUN_REFUSALS)[number]
export const isRunRefusal = (result: Result): boolean =>
  (RUN_REFUSALS as readonly (string | undefined)[]).includes(result.error?.code)

/** The observation of one check. `error` null: the target answered as its type requires; assertions are evaluated later. */
export type Observation = {
  error: CheckError | null
  /** microseconds by the monotonic clock; the phases add up to `totalUs` */
  timings: Timings
  totalUs: number
  statusCode: number | null
  /** names in lower case, repeated headers joined by ", " */
  headers: Record<string, string> | null
  /** after decompression: up to MAX_BODY_BYTES when the check needs it, else the first SAMPLE_BYTES */
  body: Buffer | null
  resolvedIp: string | null
  /** the target's leaf certificate with its chain, even if it is invalid */
  certificate: X509Certificate | null
  /** of the first target with TLS, when redirects were followed; undefined: like `certificate` */
  firstCertificate?: X509Certificate | null
  /** of a ping check that sent echoes */
  ping?: PingStats | null
  /** of a dns check that received an answer */
  dns?: DnsAnswer | null
}
