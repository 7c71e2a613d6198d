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

/** A result without any of the details that only some checks have. */
export const NO_DETAILS = {
  evidence: undefined,
  certificate: undefined,
  ping: undefined,
  dns: undefined,
  screenshotId: '',
} as const

/** Why a probe did not run a check that it was asked for. None says anything of the target: another try may help. */
export const RUN_REFUSALS = ['not_assigned', 'probe_not_ready', 'probe_busy'] as const
export type RunRefusal = (typeof RUN_REFUSALS)[number]
export const isRunRefusal = (result: Result): boolean =>
  (RUN_REFUSALS as readonly (string | undefined)[]).includes(result.error?.code)

/** What one check saw. `error` null means the target answered as its type asks; assertions come after. */
export type Observation = {
  error: CheckError | null
  /** microseconds by the monotonic clock; the phases add up to `totalUs` */
  timings: Timings
  totalUs: number
  statusCode: number | null
  /** names in lower case, repeated headers joined by ", " */
  headers: Record<string, string> | null
  /** what came, after decompression: up to BODY_LIMIT_BYTES where the check looks at it, else the first SAMPLE_BYTES */
  body: Buffer | null
  resolvedIp: string | null
  /** the target's own, with the chain that it sent behind it; also when it does not hold */
  certificate: X509Certificate | null
  /** of a ping check that could send */
  ping?: PingStats | null
  /** of a dns check that got an answer */
  dns?: DnsAnswer | null
}
