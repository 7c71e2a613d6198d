import type { Log } from '../../../../shared/process/log.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import { type Db, query, setLockTimeout, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { insertTransitions } from '../../../verdict/core/store.ts'
import type { VerdictStatus } from '../../../verdict/core/types.ts'
import { endFetches, lockClaimed, saveSeenHash } from '../fetching/claim-store.ts'
import { buildFetchEnd, hashResult, type SourceFetch } from '../fetching/fetch-result.ts'

const LOCK_TIMEOUT_MS = 1_000

/**
 * Stores a failed fetch when `applyFetch` cannot: the monitors of the source become unknown, with a transition if that can be
 * stored, and the lease is released. No event, no incident. Returns false and stores nothing when this process does not hold the
 * source any more.
 */
export function forgetStatuses({ db, log }: { db: Db; log: Log }, owner: string, fetch: SourceFetch): Promise<boolean> {
  const { source, result } = fetch
  return db.transaction(async tx => {
    const claimed = await lockClaimed(tx, owner, source)
    if (claimed === null) return false
    await setLockTimeout(tx, LOCK_TIMEOUT_MS)
    const now = new Date(claimed.nowMs)
    const forgotten = await clearStatuses(tx, source.id, now)
    try {
      await tx.transaction(savepoint => insertTransitions(savepoint, forgotten.map(toTransition), now))
    } catch (err) {
      log.error({ err, dataSourceId: source.id }, 'the monitors of a data source became unknown without a transition')
    }
    await saveSeenHash(tx, source.id, { seenHash: hashResult(result), incidentId: claimed.incidentId })
    await endFetches(tx, owner, [buildFetchEnd(fetch)])
    return true
  })
}

type ForgottenStatus = { id: string; projectId: string; status: VerdictStatus; at: Date }

/** Clears the statuses of the monitors of a source, which are locked in the order of ids. Returns what they were. */
const clearStatuses = (tx: Tx, sourceId: string, now: Date): Promise<ForgottenStatus[]> =>
  query(
    tx,
    `WITH held AS (
       SELECT m.id, m.status FROM monitors m JOIN data_source_children c ON c.monitor_id = m.id
       WHERE c.data_source_id = :sourceId AND m.status IS NOT NULL ORDER BY m.id FOR NO KEY UPDATE OF m
     )
     UPDATE monitors m SET status = NULL, status_changed_at = greatest(:now, m.status_changed_at)
     FROM held WHERE m.id = held.id
     RETURNING m.id, m.project_id AS "projectId", held.status, m.status_changed_at AS at`,
    { sourceId, now },
  )

const toTransition = ({ id, projectId, status, at }: ForgottenStatus) => ({
  ...{ id: newId(), project_id: projectId, monitor_id: id, from_status: status, to_status: null, at },
  ...{ quorum: 'full' as const, explanation: {}, summary: 'Picket could not process the data source.' },
})
