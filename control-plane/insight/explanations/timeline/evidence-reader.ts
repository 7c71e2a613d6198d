import type { ClickhouseSource } from '../../../foundation/platform/clickhouse.ts'
import { type ScreenshotLinks, toCheckResponses } from '../../analytics/checks/check-actions.ts'
import { findNewestCheck } from '../../analytics/history-store.ts'
import type { ResultRow } from '../../analytics/result-row.ts'
import type { EvidenceSelection } from './evidence.ts'

type EvidenceRows = { failing: ResultRow; healthy: ResultRow | null }

/** Reads the selected checks. Null when the failing one was deleted because of its age. */
export async function readEvidence(
  clickhouse: ClickhouseSource,
  selection: EvidenceSelection,
): Promise<EvidenceRows | null> {
  const [failing, healthy] = await Promise.all(
    [selection.failing, selection.healthy].map(one => findNewestCheck(clickhouse, selection.monitorId, one)),
  )
  return failing ? { failing, healthy: healthy ?? null } : null
}

/** The checks as the timeline of an incident shows them. */
export async function toEvidence(
  links: ScreenshotLinks,
  projectId: string,
  { monitorId, transitionId }: EvidenceSelection,
  { failing, healthy }: EvidenceRows,
) {
  const rows = healthy ? [failing, healthy] : [failing]
  const [failingCheck, healthyCheck = null] = await toCheckResponses(links, projectId, monitorId, rows)
  return { monitor_id: monitorId, transition_id: transitionId, failing: failingCheck!, healthy: healthyCheck }
}
