import { READERS } from '../shared/assertions/readers.ts'
import { type CheckSpec, isCheckType } from '../shared/check.ts'
import { type Cancellation, createDeadline, type Egress } from '../shared/egress/index.ts'
import { nowUs, wallMs } from '../shared/egress/monotonic.ts'
import { type CheckError, type FailedAssertion, FailureSource, type Observation, Outcome } from '../shared/result.ts'
import { CHECKS } from './checks/index.ts'
import type { Doubt } from './doubt.ts'
import { type LeftBehind, leftBehind } from './evidence.ts'
import { judge } from './judging.ts'
import type { SelfTest } from './self-test.ts'
import { hasNoAnswer, noteWay } from './way-to-host.ts'

type Judged = { observation: Observation; outcome: Outcome; failedAssertions: FailedAssertion[] }

/** `isDoubted`: a failure that many other hosts of this probe began to have at the same time. */
export type Ran = Judged & LeftBehind & { isDoubted?: boolean }

export type RunOptions = {
  /** without one, failures are reported as they were seen */
  selfTest?: SelfTest
  /** without one, no failure is doubted */
  doubt?: Doubt
  /** A check of what is not assigned to this probe: it reads the doubt and the self-test, and notes nothing for them. */
  isOfOthers?: boolean
  /** Ends the check early; what it saw until then says nothing about the target. */
  cancellation?: Cancellation
}

/**
 * Runs one check under one deadline (`spec.timeoutMs`) and judges what it saw. Never throws and never rejects: what
 * goes wrong in ourselves is an `internal` failure, outcome UNKNOWN (decisions 4.3).
 */
export async function runCheck(spec: CheckSpec, egress: Egress, options: RunOptions = {}): Promise<Ran> {
  const startedUs = nowUs()
  const { observation, outcome, failedAssertions } = await runJudged(spec, egress, options, startedUs)
  const { evidence, certificate } = leftBehind(spec, observation, outcome)
  const isDoubted = isInDoubt(spec, observation, options, startedUs) && outcome === Outcome.DOWN
  return { observation, outcome, failedAssertions, evidence, certificate, isDoubted }
}

function isInDoubt(spec: CheckSpec, observation: Observation, options: RunOptions, startedUs: number): boolean {
  const { doubt, cancellation, isOfOthers } = options
  if (doubt === undefined || cancellation?.isCancelled) return false
  if (isOfOthers) return hasNoAnswer(observation) && doubt.isDoubting(nowUs(), startedUs)
  return noteWay(doubt, spec, observation, nowUs(), startedUs)
}

async function runJudged(spec: CheckSpec, egress: Egress, options: RunOptions, startedUs: number): Promise<Judged> {
  const observation = await observe(spec, egress, options.cancellation)
  const ran = await judged(spec, observation)
  const { error } = observation
  if (!options.selfTest || options.cancellation?.isCancelled) return ran
  const isSilent = error !== null && isNetworkError(observation, error)
  if (!options.isOfOthers) options.selfTest.observe(spec.url, !isSilent)
  if (!isSilent) return ran
  observation.error = await options.selfTest.excuse(error, startedUs)
  return { observation, outcome: outcomeOf(observation.error, 'passed'), failedAssertions: [] }
}

async function observe(spec: CheckSpec, egress: Egress, cancellation?: Cancellation): Promise<Observation> {
  const deadline = createDeadline(spec.timeoutMs)
  if (cancellation) cancellation.onCancel = () => deadline.abort(new Error('the check was cancelled'))
  try {
    if (!isCheckType(spec.type)) throw new Error(`this probe has no check for ${spec.type}`)
    return await CHECKS[spec.type](spec, deadline.signal, egress)
  } catch (error) {
    return brokenObservation(error)
  } finally {
    deadline.clear()
    if (cancellation) cancellation.onCancel = null
  }
}

/** Assertions on what was seen. */
async function judged(spec: CheckSpec, observation: Observation): Promise<Judged> {
  if (observation.error !== null || spec.assertions.length === 0) {
    return { observation, outcome: outcomeOf(observation.error, 'passed'), failedAssertions: [] }
  }
  try {
    const startedUs = nowUs()
    const { verdict, failed } = await judge(spec.assertions, observation, wallMs())
    if (isPastDeadline(spec, observation.totalUs, nowUs() - startedUs)) observation.error = lateError
    else if (verdict === 'failed') observation.error = assertionError(failed)
    return { observation, outcome: outcomeOf(observation.error, verdict), failedAssertions: failed }
  } catch (error) {
    observation.error = internalError(error)
    return { observation, outcome: Outcome.UNKNOWN, failedAssertions: [] }
  }
}

function outcomeOf(error: CheckError | null, verdict: 'passed' | 'degraded' | 'failed'): Outcome {
  if (error !== null) return error.source === FailureSource.INTERNAL ? Outcome.UNKNOWN : Outcome.DOWN
  return verdict === 'degraded' ? Outcome.DEGRADED : Outcome.UP
}

/** Whether a failure could be our own network's: no answer came, and nothing said no. */
function isNetworkError({ statusCode }: Observation, { code, source }: CheckError): boolean {
  return statusCode === null && (source !== FailureSource.TARGET || NETWORK_CODES.has(code))
}

const NETWORK_CODES = new Set(['timeout', 'dns_timeout', 'host_unreachable'])

/** The deadline covers the assertions too. Their time is ours, so it is never held against the target. */
function isPastDeadline({ timeoutMs }: CheckSpec, checkUs: number, judgingUs: number): boolean {
  return checkUs <= timeoutMs * 1000 && checkUs + judgingUs > timeoutMs * 1000
}

const lateError: CheckError = {
  source: FailureSource.INTERNAL,
  code: 'timeout',
  message: 'the probe ran out of time while it judged the assertions',
}

function assertionError(failed: FailedAssertion[]): CheckError {
  const { type, operator, value, actual } = failed.find(({ type }) => !READERS[type]?.degrades)!
  const expected = `${type} ${operator} ${value}`.trim()
  const message = `assertion failed: ${expected}; seen: ${actual}`.slice(0, 500)
  return { source: FailureSource.TARGET, code: 'assertion_failed', message }
}

function internalError(error: unknown): CheckError {
  return { source: FailureSource.INTERNAL, code: 'internal_error', message: String((error as Error)?.message ?? error) }
}

function brokenObservation(error: unknown): Observation {
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
