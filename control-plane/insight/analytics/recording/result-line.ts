import type { Result } from '../../../../shared/checks/result.ts'
import { serializeCertificate, serializeDetails, serializeEvidence } from './result-details.ts'

/** The columns of a line, in order. Arrays need less than half the bytes of objects. */
export const RESULT_LINE_COLUMNS = `monitor_id, region, scheduled_at, attempt, probe_id, epoch, config_version, started_at,
  status, total_us, dns_us, connect_us, tls_us, first_byte_us, transfer_us, status_code,
  error_source, error_code, error_message, failed_assertions, resolved_ip, evidence, certificate, details, screenshot_id,
  trigger, taken_at, sequence, is_doubted, is_late`

/** How JetStream took a message. `isLate`: it is in the stream of results that the verdict does not read. */
export type MessageArrival = { takenAtMs: number; sequence: number; isLate: boolean }

const NO_ERROR = '0,"",""'
const NO_TIMINGS = '0,0,0,0,0'
const NO_DETAILS = '"","","",""'

/**
 * A result as a line of JSONCompactEachRow. It is built by hand because it runs for every result: only external texts
 * need JSON.stringify. An integer for a DateTime64(3) is milliseconds.
 *
 * @param origin region and probe, from `encodeOrigin`: the same for all results of a batch
 */
export function toResultLine(result: Result, origin: EncodedOrigin, arrival: MessageArrival): string {
  const { timings: phases, error, failedAssertions, resolvedIp } = result
  const timings = phases
    ? `${phases.dnsUs},${phases.connectUs},${phases.tlsUs},${phases.firstByteUs},${phases.transferUs}`
    : NO_TIMINGS
  const failure = error ? `${error.source},${JSON.stringify(error.code)},${JSON.stringify(error.message)}` : NO_ERROR
  const failed = failedAssertions.length === 0 ? '""' : JSON.stringify(JSON.stringify(failedAssertions))
  return `["${result.monitorId}",${origin.region},${result.scheduledAtMs},${Math.min(result.attempt, 255)},${origin.probeId},${
    result.epoch
  },${result.configVersion},${result.startedAtMs},${result.outcome},${result.totalUs},${timings},${Math.min(
    result.statusCode,
    999,
  )},${failure},${failed},${resolvedIp === '' ? '""' : JSON.stringify(resolvedIp)},${encodeDetails(result)},${result.trigger & 0xff},${encodeArrival(arrival)},${result.doubted ? 1 : 0},${
    arrival.isLate ? 1 : 0
  }]\n`
}

const encodeArrival = ({ takenAtMs, sequence }: MessageArrival) => `${takenAtMs},${sequence}`

/** The columns of a line of `witness_checks`, in order. */
export const WITNESS_LINE_COLUMNS = `monitor_id, region, scheduled_at, attempt, probe_id, epoch, config_version, taken_at,
  sequence, status, total_us, status_code, error_source, error_code`

/** The check of a witness as a line of JSONCompactEachRow. Only doubt reads it, so it has no texts of the target. */
export function toWitnessLine(result: Result, origin: EncodedOrigin, arrival: MessageArrival): string {
  const { error, failedAssertions } = result
  const code = error ? error.code : failedAssertions.length > 0 ? 'assertion_failed' : ''
  return `["${result.monitorId}",${origin.region},${result.scheduledAtMs},${Math.min(result.attempt, 255)},${origin.probeId},${
    result.epoch
  },${result.configVersion},${encodeArrival(arrival)},${result.outcome},${result.totalUs},${Math.min(
    result.statusCode,
    999,
  )},${error?.source ?? 0},${JSON.stringify(code)}]\n`
}

function encodeDetails(result: Result): string {
  const { evidence, certificate, ping, dns, screenshotId } = result
  if (!evidence && !certificate && !ping && !dns && screenshotId === '') return NO_DETAILS
  const columns = [
    serializeEvidence(evidence),
    serializeCertificate(certificate),
    serializeDetails({ ping, dns }),
    screenshotId,
  ]
  return columns.map(column => JSON.stringify(column)).join(',')
}

/** Encoded as JSON. */
type EncodedOrigin = { region: string; probeId: string }

export function encodeOrigin({ region, probeId }: { region: string; probeId: string }): EncodedOrigin {
  return { region: JSON.stringify(region), probeId: JSON.stringify(probeId) }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
/** How long results are kept, by the table's TTL. */
const RETENTION_MS = 90 * 24 * 3_600_000
/** The clocks of a probe and of NATS may differ by an hour, plus summer time. A later time is not valid. */
const MAX_AHEAD_MS = 2 * 3_600_000

type RejectReason = 'malformed' | 'too_old' | 'in_future'

/**
 * Why a result is not recorded; null when it is. An invalid result must not reject its batch, and a distant time
 * would create a partition of its own.
 *
 * @param takenAtMs when JetStream stored the message
 */
export function findRejectReason(
  { monitorId, scheduledAtMs, startedAtMs }: Result,
  takenAtMs: number,
): RejectReason | null {
  if (!UUID.test(monitorId)) return 'malformed'
  if (Math.min(scheduledAtMs, startedAtMs) < takenAtMs - RETENTION_MS) return 'too_old'
  return Math.max(scheduledAtMs, startedAtMs) > takenAtMs + MAX_AHEAD_MS ? 'in_future' : null
}
