import { type CheckError, FailureSource, type Result, ResultBatch, Trigger } from '../../shared/result.ts'
import { WITNESS_REGION } from '../../shared/subjects.ts'
import { createOneOfEach } from '../platform/one-of-each.ts'
import type { Counted } from '../verdict/types.ts'

const MESSAGE_LIMIT = 500

/** Names of regions and probes stand in every result that is kept. */
const oneName = createOneOfEach<string>(10_000)

/**
 * The batch in a message of `RESULTS.<partition>.<region>`. Throws when it cannot be decoded, or when it speaks of
 * another region than the one whose subject it came on. What a witness saw counts only on the subject of witnesses, where
 * only the fleet may publish, and nothing else counts there.
 */
export function decodeBatch(subject: string, data: Uint8Array): ResultBatch {
  const batch = ResultBatch.decode(data)
  const { witnessed } = batch
  const subjectRegion = subject.slice(subject.lastIndexOf('.') + 1)
  const isOfWitness = subjectRegion === WITNESS_REGION
  const region = isOfWitness ? storable(batch.region) : subjectRegion
  if (!isOfWitness && batch.region !== region) throw new Error(`a batch of region "${batch.region}" came on ${subject}`)
  const results = isOfWitness && witnessed && batch.results.length === 0 ? [witnessed] : batch.results
  if (isOfWitness !== (witnessed !== undefined) || results.some(({ trigger }) => isWitness(trigger) !== isOfWitness))
    throw new Error(`a batch that mixes results with what a witness saw came on ${subject}`)
  const probeId = storable(batch.probeId)
  return { region: oneName(region, () => region), probeId: oneName(probeId, () => probeId), results }
}

const isWitness = (trigger: Trigger) => trigger === Trigger.WITNESS

/** A result as the verdict reads it. Throws for a time before 1970, which is none. */
export function toCounted(batch: ResultBatch, result: Result): Counted {
  if (result.scheduledAtMs < 0) throw new Error(`scheduled at ${result.scheduledAtMs}`)
  const counted: Counted = {
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
    error: result.error ? storableError(result.error) : failedAssertion(result),
  }
  if (result.doubted) counted.isDoubted = true
  return counted
}

/** A failed assertion is the error to tell, where the target itself answered. */
function failedAssertion({ failedAssertions: [failed] }: Result): CheckError | null {
  if (!failed) return null
  const { type, operator, value, actual } = failed
  const message = `assertion failed: ${type} ${operator} ${value}, got ${actual}`
  return storableError({ source: FailureSource.TARGET, code: 'assertion_failed', message })
}

function storableError({ source, code, message }: CheckError): CheckError {
  return { source, code: storable(code), message: storable(message) }
}

/** PostgreSQL stores no NUL in texts. */
const storable = (text: string): string => text.slice(0, MESSAGE_LIMIT).replaceAll('\0', '')
