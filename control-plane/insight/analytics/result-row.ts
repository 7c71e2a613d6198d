import { FailureSource, type Outcome, type Result, type Trigger } from '../../../shared/checks/result.ts'
import { parseCertificate, parseDetails, parseEvidence } from './recording/result-details.ts'

/** A row of ClickHouse's `results`. Times are ms since 1970, as strings like all 64-bit integers. */
export type ResultRow = {
  monitor_id: string
  region: string
  probe_id: string
  epoch: number
  config_version: number
  scheduled_ms: string
  started_ms: string
  attempt: number
  outcome: Outcome
  total_us: number
  dns_us: number
  connect_us: number
  tls_us: number
  first_byte_us: number
  transfer_us: number
  status_code: number
  source: FailureSource
  error_code: string
  error_message: string
  failed_assertions: string
  resolved_ip: string
  evidence: string
  certificate: string
  details: string
  screenshot_id: string
  trigger: Trigger
}

export const RESULT_COLUMNS = `monitor_id, region, probe_id, epoch, config_version,
  toUnixTimestamp64Milli(scheduled_at) AS scheduled_ms, toUnixTimestamp64Milli(started_at) AS started_ms, attempt,
  toInt8(status) AS outcome, total_us, dns_us, connect_us, tls_us, first_byte_us, transfer_us, status_code,
  toInt8(error_source) AS source, error_code, error_message, failed_assertions, resolved_ip,
  evidence, certificate, details, screenshot_id, trigger`

/** The result as the probe sent it, without the id of the run. */
export function toResult(row: ResultRow): Result {
  return {
    monitorId: row.monitor_id,
    configVersion: row.config_version,
    epoch: row.epoch,
    scheduledAtMs: Number(row.scheduled_ms),
    startedAtMs: Number(row.started_ms),
    attempt: row.attempt,
    outcome: row.outcome,
    trigger: row.trigger,
    runId: '',
    totalUs: row.total_us,
    timings: toTimings(row),
    statusCode: row.status_code,
    error:
      row.source === FailureSource.NONE
        ? undefined
        : { source: row.source, code: row.error_code, message: row.error_message },
    failedAssertions: row.failed_assertions === '' ? [] : JSON.parse(row.failed_assertions),
    resolvedIp: row.resolved_ip,
    evidence: parseEvidence(row.evidence),
    certificate: parseCertificate(row.certificate),
    ...parseDetails(row.details),
    screenshotId: row.screenshot_id,
  }
}

/** The phases of a check. */
export const toTimings = (
  row: Pick<ResultRow, 'dns_us' | 'connect_us' | 'tls_us' | 'first_byte_us' | 'transfer_us'>,
): NonNullable<Result['timings']> => ({
  dnsUs: row.dns_us,
  connectUs: row.connect_us,
  tlsUs: row.tls_us,
  firstByteUs: row.first_byte_us,
  transferUs: row.transfer_us,
})
