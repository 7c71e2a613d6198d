import { READERS } from '../../shared/assertions/readers.ts'
import { type CheckSpec, isCheckType } from '../../shared/checks/check.ts'
import {
  type CheckError,
  type FailedAssertion,
  FailureSource,
  type Observation,
  Outcome,
} from '../../shared/checks/result.ts'
import { type Cancellation, createDeadline } from '../../shared/egress/index.ts'
import { nowUs, wallMs } from '../../shared/egress/monotonic.ts'
import type { Egress } from '../../shared/egress/types.ts'
import { CHECKS } from '../checks/index.ts'
import { evaluateInTime } from './evaluate-assertions.ts'
import { type CheckArtifacts, collectArtifacts } from './evidence.ts'
import { judgeCertificate } from './own-faults/certificate-clock.ts'
import type { DoubtDetector } from './own-faults/doubt.ts'
import { isUnanswered, recordReachability } from './own-faults/reachability.ts'
import type { SelfTest } from './own-faults/self-test.ts'

type EvaluatedCheck = { observation: Observation; outcome: Outcome; failedAssertions: FailedAssertion[] }

/** `isDoubted`: many other hosts of this probe began to fail at the same time (docs/design/probes.md#doubt). */
export type CheckExecution = EvaluatedCheck & CheckArtifacts & { isDoubted?: boolean }

type RunCheckOptions = {
  /** without it, failures are not attributed to the probe */
  selfTest?: SelfTest
  /** without it, no failure is doubted */
  doubt?: DoubtDetector
  /** A check of a monitor that is not assigned to this probe: it reads self-test and doubt but does not contribute to them. */
  isOfOthers?: boolean
  /** Ends the check early. A cancelled check contains no information about the target. */
  cancellation?: Cancellation
  /** the number of the monitor's tenant; tenants take turns where checks wait for each other */
  tenant?: number
  /** since 1970, for the age of certificates; default: the machine's clock at the start of the process, carried forward */
  nowMs?: () => number
  /** the machine's clock, by which TLS judges certificates, since 1970; without it, its verdict is final */
  machineMs?: () => number
}

/** The options that differ from check to check. */
export type CheckRunOptions = Pick<RunCheckOptions, 'isOfOthers' | 'cancellation' | 'tenant'>

/**
 * Runs one check under one deadline (`spec.timeoutMs`) and evaluates its assertions. Never throws and never rejects:
 * faults of the probe become an `internal` failure with the outcome UNKNOWN.
 */
export async function runCheck(
  spec: CheckSpec,
  egress: Egress,
  options: RunCheckOptions = {},
): Promise<CheckExecution> {
  const startedUs = nowUs()
  const { observation, outcome, failedAssertions } = await runAndEvaluate(spec, egress, options, startedUs)
  const { evidence, certificate } = collectArtifacts(spec, observation, outcome)
  const isDoubted = isInDoubt(spec, observation, options, startedUs) && outcome === Outcome.DOWN
  return { observation, outcome, failedAssertions, evidence, certificate, isDoubted }
}

function isInDoubt(spec: CheckSpec, observation: Observation, options: RunCheckOptions, startedUs: number): boolean {
  const { doubt, cancellation, isOfOthers } = options
  if (doubt === undefined || cancellation?.isCancelled) return false
  if (isOfOthers) return isUnanswered(observation) && doubt.isDoubting(nowUs(), startedUs)
  return recordReachability(doubt, spec, observation, nowUs(), startedUs)
}

async function runAndEvaluate(
  spec: CheckSpec,
  egress: Egress,
  options: RunCheckOptions,
  startedUs: number,
): Promise<EvaluatedCheck> {
  const observation = await observe(spec, egress, options)
  const { nowMs, machineMs } = options
  if (nowMs && machineMs) observation.error = judgeCertificate(observation, nowMs(), machineMs())
  const ran = await evaluateObservation(spec, observation, options)
  const { error } = observation
  if (!options.selfTest || options.cancellation?.isCancelled) return ran
  const isSilent = error !== null && isNetworkError(observation, error)
  if (!options.isOfOthers) options.selfTest.recordCheck(spec.url, !isSilent)
  if (!isSilent) return ran
  observation.error = await options.selfTest.attributeFailure(error, startedUs)
  return { observation, outcome: toCheckOutcome(observation.error, 'passed'), failedAssertions: [] }
}

async function observe(
  spec: CheckSpec,
  egress: Egress,
  { cancellation, tenant = 0 }: RunCheckOptions,
): Promise<Observation> {
  const deadline = createDeadline(spec.timeoutMs)
  if (cancellation) cancellation.onCancel = () => deadline.abort(new Error('the check was cancelled'))
  try {
    if (!isCheckType(spec.type)) throw new Error(`this probe does not support checks of type ${spec.type}`)
    return await CHECKS[spec.type](spec, deadline.signal, egress, tenant)
  } catch (error) {
    return createFailedObservation(error)
  } finally {
    deadline.clear()
    if (cancellation) cancellation.onCancel = null
  }
}

async function evaluateObservation(
  spec: CheckSpec,
  observation: Observation,
  { tenant = 0, nowMs = wallMs }: RunCheckOptions,
): Promise<EvaluatedCheck> {
  if (observation.error !== null || spec.assertions.length === 0) {
    return { observation, outcome: toCheckOutcome(observation.error, 'passed'), failedAssertions: [] }
  }
  try {
    const evaluation = await evaluateInTime(spec.assertions, { spec, observation, nowMs: nowMs(), tenant })
    if ('code' in evaluation) {
      observation.error = evaluation
      return { observation, outcome: Outcome.UNKNOWN, failedAssertions: [] }
    }
    const { verdict, failed } = evaluation
    if (verdict === 'failed') observation.error = assertionError(failed)
    return { observation, outcome: toCheckOutcome(observation.error, verdict), failedAssertions: failed }
  } catch (error) {
    observation.error = internalError(error)
    return { observation, outcome: Outcome.UNKNOWN, failedAssertions: [] }
  }
}

function toCheckOutcome(error: CheckError | null, verdict: 'passed' | 'degraded' | 'failed'): Outcome {
  if (error !== null) return error.source === FailureSource.INTERNAL ? Outcome.UNKNOWN : Outcome.DOWN
  return verdict === 'degraded' ? Outcome.DEGRADED : Outcome.UP
}

/** Whether the probe's own network could be the cause: no answer arrived, and the target did not refuse. */
function isNetworkError({ statusCode }: Observation, { code, source }: CheckError): boolean {
  return statusCode === null && (source !== FailureSource.TARGET || NETWORK_CODES.has(code))
}

const NETWORK_CODES = new Set(['timeout', 'dns_timeout', 'host_unreachable'])

function assertionError(failed: FailedAssertion[]): CheckError {
  const { type, operator, value, actual } = failed.find(({ type }) => !READERS[type]?.degrades)!
  const expected = `${type} ${operator} ${value}`.trim()
  const message = `assertion failed: ${expected}; actual: ${actual}`.slice(0, 500)
  return { source: FailureSource.TARGET, code: 'assertion_failed', message }
}

function internalError(error: unknown): CheckError {
  return { source: FailureSource.INTERNAL, code: 'internal_error', message: String((error as Error)?.message ?? error) }
}

function createFailedObservation(error: unknown): Observation {
  return {
    error: internalError(error),
    timings: { dnsUs: 0, connectUs: 0, tlsUs: 0, firstByteUs: 0, transferUs: 0 },
    totalUs: 0,
    statusCode: null,
    headers: null,
    body: null,
    resolvedIp: null,
    certificate: null,
  }
}
