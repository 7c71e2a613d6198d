import type { Result } from '../../shared/result.ts'
import { printCertificate, printDetails, printEvidence } from './result-details.ts'

/** The columns of a line, in its order. Arrays instead of objects: less than half the bytes to print and to parse. */
export const LINE_COLUMNS = `monitor_id, region, scheduled_at, attempt, probe_id, epoch, config_version, started_at,
  status, total_us, dns_us, connect_us, tls_us, first_byte_us, transfer_us, status_code,
  error_source, error_code, error_message, failed_assertions, resolved_ip, evidence, certificate, details, screenshot_id,
  trigger`

const NO_ERROR = '0,"",""'
const NO_TIMINGS = '0,0,0,0,0'
const NO_DETAILS = '"","","",""'

/**
 * A result as a line of JSONCompactEachRow. Written by hand because it runs for every result: only texts that come
 * from outside need the escaping of JSON.stringify. A whole number for a DateTime64(3) is milliseconds.
 *
 * @param origin region and probe, from `originOf`: the same for every result of a batch
 */
export function toLine(result: Result, origin: Origin): string {
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
  )},${failure},${failed},${resolvedIp === '' ? '""' : JSON.stringify(resolvedIp)},${detailsOf(result)},${result.trigger & 0xff}]\n`
}

function detailsOf(result: Result): string {
  const { evidence, certificate, ping, dns, screenshotId } = result
  if (!evidence && !certificate && !ping && !dns && screenshotId === '') return NO_DETAILS
  const columns = [printEvidence(evidence), printCertificate(certificate), printDetails({ ping, dns }), screenshotId]
  return columns.map(column => JSON.stringify(column)).join(',')
}

/** JSON texts. */
export type Origin = { region: string; probeId: string }

export function originOf({ region, probeId }: { region: string; probeId: string }): Origin {
  return { region: JSON.stringify(region), probeId: JSON.stringify(probeId) }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
/** The last moment that DateTime64(3) holds is in 2299. */
const LATEST_MS = 10_413_792_000_000

/** False for a result that ClickHouse could not take: one of those must not cost its batch. */
export function isRecordable({ monitorId, scheduledAtMs, startedAtMs }: Result): boolean {
  return UUID.test(monitorId) && isStorable(scheduledAtMs) && isStorable(startedAtMs)
}

const isStorable = (ms: number) => ms > 0 && ms < LATEST_MS
