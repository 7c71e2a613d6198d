import { type Db, query } from '../../../foundation/platform/postgres/client.ts'
import type { IncidentRecord } from '../store.ts'

/** An incident of a vendor that the project depends on, which may have caused an outage. */
export type PossibleCause = {
  dependency_id: string
  name: string
  title: string
  severity: string
  source_url: string
  started_at: Date
  resolved_at: Date | null
}

/** The number of causes that are listed at most. */
export const MAX_CAUSES = 20

/**
 * Incidents that vendors of the project reported while an automatic incident lasted, worst first. They are read on
 * request, because vendors usually report later than monitors.
 */
export async function listPossibleCauses(
  db: Db,
  projectId: string,
  { source, started_at, resolved_at }: Pick<IncidentRecord, 'source' | 'started_at' | 'resolved_at'>,
  now: Date,
): Promise<PossibleCause[]> {
  if (source !== 'automatic') return []
  return query<PossibleCause>(
    db,
    `SELECT d.id AS dependency_id, d.name, v.title, v.severity, v.source_url, v.started_at, v.resolved_at
     FROM vendor_incidents v JOIN dependencies d ON d.id = v.dependency_id
     WHERE v.project_id = :projectId AND v.severity <> 'none' AND v.started_at <= :end
       AND (v.resolved_at IS NULL OR v.resolved_at >= :start)
     ORDER BY array_position(ARRAY['critical', 'major', 'minor'], v.severity), v.started_at DESC, v.id LIMIT :limit`,
    { projectId, start: started_at, end: resolved_at ?? now, limit: MAX_CAUSES },
  )
}
