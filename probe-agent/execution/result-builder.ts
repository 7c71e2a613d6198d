import type { Observation } from '../../shared/checks/check.ts'
import {
  type CheckError,
  type DnsAnswer,
  FailureSource,
  NO_DETAILS,
  Outcome,
  type Result,
  Trigger,
} from '../../shared/checks/result.ts'
import type { CheckExecution } from './run-check.ts'

/** The monitor of a result, with the configuration version and assignment epoch at the start of the check. */
export type ResultSubject = { monitorId: string; configVersion: number; epoch: number }

/** Why a check runs, and its scheduled time. */
export type CheckOccasion = { scheduledAtMs: number; attempt: number; trigger: Trigger; runId: string }

const NO_TIMINGS = { dnsUs: 0, connectUs: 0, tlsUs: 0, firstByteUs: 0, transferUs: 0 }

/** Limits for stored results. Assertions are evaluated before, on the complete answer. */
const MAX_RECORDS = 50
const MAX_VALUE_LENGTH = 500

/** The result of a check, as it is published. Times in ms since 1970 by the control plane's clock. */
export function buildResult(
  subject: ResultSubject,
  occasion: CheckOccasion,
  startedAtMs: number,
  ran: CheckExecution,
): Result {
  const { observation } = ran
  return {
    monitorId: subject.monitorId,
    configVersion: subject.configVersion,
    epoch: subject.epoch,
    scheduledAtMs: Math.floor(occasion.scheduledAtMs),
    startedAtMs: Math.floor(startedAtMs),
    attempt: occasion.attempt,
    outcome: ran.outcome,
    trigger: occasion.trigger,
    runId: occasion.runId,
    ...limitTimes(observation),
    statusCode: observation.statusCode ?? 0,
    error: observation.error ?? undefined,
    failedAssertions: ran.failedAssertions,
    resolvedIp: observation.resolvedIp ?? '',
    ...NO_DETAILS,
    ping: observation.ping ?? undefined,
    dns: observation.dns ? truncateDnsAnswer(observation.dns) : undefined,
    evidence: ran.evidence,
    certificate: ran.certificate,
    doubted: ran.isDoubted || undefined,
  }
}

/** The largest number of a result: 71 minutes. */
const MAX_US = 0xffff_ffff

/** The process may have been frozen for hours during the check. No phase is longer than the total. */
function limitTimes({
  totalUs,
  timings,
}: Pick<Observation, 'totalUs' | 'timings'>): Pick<Result, 'totalUs' | 'timings'> {
  if (totalUs <= MAX_US) return { totalUs, timings }
  const phases = Object.entries(timings).map(([phase, us]) => [phase, Math.min(us, MAX_US)])
  return { totalUs: MAX_US, timings: Object.fromEntries(phases) }
}

/** The part of a DNS answer that is stored with the result. */
function truncateDnsAnswer(dns: DnsAnswer): DnsAnswer {
  const records = dns.records.slice(0, MAX_RECORDS)
  return { ...dns, records: records.map(record => ({ ...record, value: record.value.slice(0, MAX_VALUE_LENGTH) })) }
}

/** The result of a slot in which the check could not start (docs/design/probes.md#schedule). `nowMs`: time of detection. */
export function buildMissedResult(subject: ResultSubject, slotMs: number, nowMs: number): Result {
  const error = createInternalError('missed_slot', 'the check could not start within its interval')
  return buildEmptyResult(subject, slotMs, nowMs, Outcome.MISSED, error)
}

/** The result of a requested check that the probe could not run. It never votes (docs/design/probes.md#own-faults). */
export function buildRefusedResult(subject: ResultSubject, nowMs: number, code: string, message: string): Result {
  return buildEmptyResult(subject, nowMs, nowMs, Outcome.UNKNOWN, createInternalError(code, message))
}

/**
 * The result of an attempt that was silent for `silentMs` when a later attempt of its chain, with the result `later`, ended the
 * chain (docs/design/probes.md#silence-limit). It never votes. `startedAtMs`: by the control plane's clock.
 */
export function buildCancelledResult(
  later: Result,
  { attempt, startedAtMs, silentMs }: { attempt: number; startedAtMs: number; silentMs: number },
): Result {
  const { monitorId, configVersion, epoch, scheduledAtMs, trigger } = later
  const message = `no answer for ${(silentMs / 1000).toFixed(1)} s; cancelled, because attempt ${later.attempt} was answered`
  const error = { source: FailureSource.TARGET, code: 'cancelled', message }
  return {
    ...buildEmptyResult({ monitorId, configVersion, epoch }, scheduledAtMs, startedAtMs, Outcome.UNKNOWN, error),
    ...{ attempt, trigger, totalUs: Math.min(Math.round(silentMs * 1000), MAX_US) },
  }
}

function createInternalError(code: string, message: string): CheckError {
  return { source: FailureSource.INTERNAL, code, message }
}

function buildEmptyResult(
  subject: ResultSubject,
  scheduledMs: number,
  nowMs: number,
  outcome: Outcome,
  error: CheckError,
): Result {
  return {
    ...subject,
    scheduledAtMs: Math.floor(scheduledMs),
    startedAtMs: Math.floor(nowMs),
    attempt: 1,
    outcome,
    trigger: Trigger.SLOT,
    runId: '',
    totalUs: 0,
    timings: NO_TIMINGS,
    statusCode: 0,
    error,
    failedAssertions: [],
    resolvedIp: '',
    ...NO_DETAILS,
  }
}
