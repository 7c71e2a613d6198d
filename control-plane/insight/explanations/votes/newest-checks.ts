import { FailureSource, STATUS_OF_OUTCOME } from '../../../../shared/checks/result.ts'
import { SOURCES } from '../../../verdict/core/rules/explain.ts'
import type { ExplainedCheck } from '../../../verdict/core/types.ts'
import type { NewestCheckRow, ResultRunRow } from './newest-checks-store.ts'
import type { NewestChecks } from './votes.ts'

/** Rows of the history by region. */
export function groupNewestChecks(checks: readonly NewestCheckRow[], runs: readonly ResultRunRow[]): NewestChecks {
  const runsByRegion = new Map(runs.map(run => [run.region, { outcome: run.outcome, sinceMs: Number(run.since_ms) }]))
  return new Map(
    checks.map(row => [row.region, { check: toExplainedCheck(row), run: runsByRegion.get(row.region) ?? null }]),
  )
}

/** A row of the history as explanations show a check. */
export function toExplainedCheck(row: Omit<NewestCheckRow, 'region'>): ExplainedCheck {
  return {
    status: STATUS_OF_OUTCOME[row.outcome],
    status_code: row.status_code,
    response_time_ms: Math.round(row.total_us / 1_000),
    error: toExplainedError(row),
    attempt: row.attempt,
    scheduled_at: new Date(Number(row.scheduled_ms)).toISOString(),
    probe_id: row.probe_id,
  }
}

/** The error, or the first failed assertion of a check without one. */
function toExplainedError({ source, ...row }: Omit<NewestCheckRow, 'region'>): ExplainedCheck['error'] {
  if (source !== FailureSource.NONE) {
    return { source: SOURCES[source], code: row.error_code, message: row.error_message }
  }
  const [failed] = row.failed_assertions === '' ? [] : JSON.parse(row.failed_assertions)
  if (!failed) return null
  const message = `assertion failed: ${failed.type} ${failed.operator} ${failed.value}, got ${failed.actual}`
  return { source: 'target', code: 'assertion_failed', message }
}
