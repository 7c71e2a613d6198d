import { newId } from '../../../foundation/platform/ids.ts'
import type { Tx } from '../../../foundation/platform/postgres/client.ts'
import type { StoredMonitor } from '../../../monitoring/monitors/types.ts'
import { scheduleReview } from '../../suppression/store.ts'
import { insertTransitions, storeStatuses } from '../store.ts'
import type { ExplainedValue, VerdictStatus } from '../types.ts'

/** A monitor of which nothing can be said for now (`status` null), or of which the same can be said again as before. */
export type UnknownTransition = {
  monitor: StoredMonitor
  status: VerdictStatus
  at: Date
  /** why, as a sentence */
  summary: string
  explanation: { data_source?: ExplainedValue }
}

/**
 * Stores that monitors got out of sight, or came back as they were: a status and a transition, and nobody is told. What
 * the verdict knows of them stays, and an open outage and its incident with it, so that the next verdict goes on from
 * there (decisions 9.4). On locked rows.
 */
export async function storeUnknownTransitions(tx: Tx, sights: UnknownTransition[], now: Date): Promise<void> {
  if (sights.length === 0) return
  const rows = sights.map(({ monitor, status, at, summary, explanation }) => ({
    id: newId(),
    project_id: monitor.projectId,
    monitor_id: monitor.id,
    from_status: monitor.status,
    to_status: status,
    at: new Date(Math.max(at.getTime(), monitor.statusChangedAt?.getTime() ?? 0)),
    quorum: 'full' as const,
    summary,
    explanation,
  }))
  await storeStatuses(
    tx,
    rows.map(({ monitor_id: id, to_status: status, at }) => ({ id, status, at })),
  )
  await insertTransitions(tx, rows, now)
  const turned = sights.filter(({ monitor, status }) => monitor.status === 'down' || status === 'down')
  await scheduleReview(
    tx,
    turned.map(({ monitor }) => monitor.id),
    now,
  )
}
