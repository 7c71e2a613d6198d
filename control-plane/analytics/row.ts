import type { Result } from '../../shared/result.ts'

/**
 * A result as a line of JSONEachRow. Written by hand because it runs for every result: only texts that come from
 * outside need the escaping of JSON.stringify. A whole number for a DateTime64(3) is milliseconds.
 */
export function toLine(result: Result, region: string, probeId: string): string {
  const { timings, error } = result
  return (
    `{"monitor_id":"${result.monitorId}","region":"${region}","scheduled_at":${result.scheduledAtMs},` +
    `"attempt":${Math.min(result.attempt, 255)},"probe_id":${JSON.stringify(probeId)},"epoch":${result.epoch},` +
    `"config_version":${result.configVersion},"started_at":${result.startedAtMs},"status":${result.outcome},` +
    `"total_us":${result.totalUs},"dns_us":${timings?.dnsUs ?? 0},"connect_us":${timings?.connectUs ?? 0},` +
    `"tls_us":${timings?.tlsUs ?? 0},"first_byte_us":${timings?.firstByteUs ?? 0},` +
    `"transfer_us":${timings?.transferUs ?? 0},"status_code":${Math.min(result.statusCode, 999)}${
      error
        ? `,"error_source":${error.source},"error_code":${JSON.stringify(error.code)},` +
          `"error_message":${JSON.stringify(error.message)}`
        : ''
    }${
      result.failedAssertions.length > 0
        ? `,"failed_assertions":${JSON.stringify(JSON.stringify(result.failedAssertions))}`
        : ''
    },"resolved_ip":${result.resolvedIp === '' ? '""' : JSON.stringify(result.resolvedIp)}}\n`
  )
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const REGION = /^[a-z0-9-]{1,40}$/
/** 1 s past 2299 in ms, the end of what DateTime64 holds */
const LATEST_MS = 10_413_792_000_000

/** False for a result that ClickHouse could not take: one of those must not cost its batch. */
export function isRecordable(result: Result, region: string): boolean {
  return (
    UUID.test(result.monitorId) &&
    REGION.test(region) &&
    result.scheduledAtMs > 0 &&
    result.scheduledAtMs < LATEST_MS &&
    result.startedAtMs > 0 &&
    result.startedAtMs < LATEST_MS
  )
}
