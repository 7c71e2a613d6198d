import { newId } from '../../../foundation/platform/ids.ts'
import type { Tx } from '../../../foundation/platform/postgres/client.ts'
import type { StoredMonitor } from '../../../monitoring/monitors/types.ts'
import { scheduleReview } from '../../suppression/store.ts'
import { insertTransitions, storeStatuses } from '../store.ts'
import type { ExplainedValue, VerdictStatus } from '../types.ts'

/** A monitor whose status is unknown for now (`status` null), or has its previous status again. */
type UnknownTransition = {
  monitor: StoredMonitor
  status: VerdictStatus
  at: Date
  /** why, as a sentence */
  summary: string
  explanation: { data_source?: ExplainedValue }
}

/**
 * Stores that the status of monitors became unknown, or is the previous one again: a status and a transition, without
 * an event. Their verdict state, open outages and incidents stay, so that the next verdict continues from there. The
 * caller has locked the monitors.
 */
export async function storeUnknownTransitions(tx: Tx, changes: UnknownTransition[], now: Date): Promise<void> {
  if (changes.length === 0) return
  const rows = changes.map(({ monitor, status, at, summary, explanation }) => ({
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
  const turned = changes.filter(({ monitor, status }) => monitor.status === 'down' || status === 'down')
  await scheduleReview(
    tx,
    turned.map(({ monitor }) => monitor.id),
    now,
  )
}
