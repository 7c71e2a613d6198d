import { FailureSource, NO_DETAILS, type Outcome, type Trigger } from '../../../../shared/checks/result.ts'
import { toTimings } from '../../analytics/result-row.ts'
import type { StoredAttempt } from './replay/types.ts'

/** A row of `ATTEMPTS_SQL`. Times are ms since 1970, as strings like all 64-bit integers. */
export type AttemptRow = {
  region: string
  probe_id: string
  epoch: number
  config_version: number
  scheduled_ms: string
  attempt: number
  outcome: Outcome
  trigger: Trigger
  total_us: number
  dns_us: number
  connect_us: number
  tls_us: number
  first_byte_us: number
  transfer_us: number
  status_code: number
  source: FailureSource
  error_code: string
  failed_assertions: string
  is_doubted: number
  taken_ms: string
  sequence: string
  is_stored: number
}

/** The result as the verdict read it, without the texts of the target. */
export function toStoredAttempt(monitorId: string, row: AttemptRow): StoredAttempt {
  const { region, probe_id: probeId, source, failed_assertions: failed } = row
  const scheduledAtMs = Number(row.scheduled_ms)
  return {
    region,
    probeId,
    takenAtMs: Number(row.taken_ms),
    isArrivalStored: row.is_stored === 1,
    sequence: Number(row.sequence),
    result: {
      ...NO_DETAILS,
      monitorId,
      configVersion: row.config_version,
      epoch: row.epoch,
      scheduledAtMs,
      startedAtMs: scheduledAtMs,
      attempt: row.attempt,
      outcome: row.outcome,
      trigger: row.trigger,
      runId: '',
      totalUs: row.total_us,
      timings: toTimings(row),
      statusCode: row.status_code,
      error: source === FailureSource.NONE ? undefined : { source, code: row.error_code, message: '' },
      failedAssertions: failed === '' ? [] : JSON.parse(failed),
      resolvedIp: '',
      ...(row.is_doubted === 1 && { doubted: true }),
    },
  }
}
