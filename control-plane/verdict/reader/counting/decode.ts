import {
  type CheckError,
  FailureSource,
  type Result,
  type ResultBatch,
  Trigger,
} from '../../../../shared/checks/result.ts'
import { decodeResultBatch } from '../../../../shared/checks/result-batch.ts'
import { WITNESS_REGION } from '../../../../shared/nats/subjects.ts'
import { toStorableText } from '../../../../shared/storable-text.ts'
import { createInterner } from '../../../foundation/platform/cache/intern.ts'
import type { VerdictResult } from '../../core/types.ts'

const MAX_TEXT_LENGTH = 500

/** Every stored result has the names of its region and probe, so they are interned. */
const internName = createInterner<string>(10_000)

/**
 * The batch in a message of `RESULTS.<partition>.<region>`. Throws if it cannot be decoded or is too large, or if its region
 * is not that of the subject. Results of witnesses are accepted only on the subject of witnesses, where only the fleet may
 * publish; no other results are accepted there.
 */
export function decodeBatch(subject: string, data: Uint8Array): ResultBatch {
  const batch = decodeResultBatch(data)
  const { witnessed } = batch
  const subjectRegion = subject.slice(subject.lastIndexOf('.') + 1)
  const isOfWitness = subjectRegion === WITNESS_REGION
  const region = isOfWitness ? sanitizeText(batch.region) : subjectRegion
  if (!isOfWitness && batch.region !== region)
    throw new Error(`received a batch of region "${batch.region}" on ${subject}`)
  const results = isOfWitness && witnessed && batch.results.length === 0 ? [witnessed] : batch.results
  if (isOfWitness !== (witnessed !== undefined) || results.some(({ trigger }) => isWitness(trigger) !== isOfWitness))
    throw new Error(`received results of a witness mixed with other results on ${subject}`)
  const probeId = sanitizeText(batch.probeId)
  return { region: internName(region, () => region), probeId: internName(probeId, () => probeId), results }
}

const isWitness = (trigger: Trigger) => trigger === Trigger.WITNESS

/** A result as the verdict reads it. Throws for a time before 1970. */
export function toVerdictResult(batch: ResultBatch, result: Result): VerdictResult {
  if (result.scheduledAtMs < 0) throw new Error(`invalid scheduled time ${result.scheduledAtMs}`)
  const counted: VerdictResult = {
    region: batch.region,
    probeId: batch.probeId,
    configVersion: result.configVersion,
    epoch: result.epoch,
    scheduledAtMs: result.scheduledAtMs,
    attempt: result.attempt,
    outcome: result.outcome,
    trigger: result.trigger,
    statusCode: result.statusCode,
    responseTimeMs: Math.round(result.totalUs / 1_000),
    error: result.error ? sanitizeError(result.error) : toAssertionError(result),
  }
  if (result.doubted) counted.isDoubted = true
  return counted
}

/** The first failed assertion as an error, for a result without an error of its own. */
function toAssertionError({ failedAssertions: [failed] }: Result): CheckError | null {
  if (!failed) return null
  const { type, operator, value, actual } = failed
  const message = `assertion failed: ${type} ${operator} ${value}, got ${actual}`
  return sanitizeError({ source: FailureSource.TARGET, code: 'assertion_failed', message })
}

function sanitizeError({ source, code, message }: CheckError): CheckError {
  return { source, code: sanitizeText(code), message: sanitizeText(message) }
}

const sanitizeText = (text: string): string => toStorableText(text.replaceAll('\0', ''), MAX_TEXT_LENGTH)
