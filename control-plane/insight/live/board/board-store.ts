import { type Db, query } from '../../../foundation/platform/postgres/client.ts'
import type { BoardSource } from './board-row.ts'

const COLUMNS = `
  m.id, m.name, m.type, m.url, m.keyword, m.heartbeat_interval AS "heartbeatInterval", m.status, m.status_changed_at AS "statusChangedAt", m.is_paused AS "isPaused", m.tags, m.regions,
  m.data_source_id IS NOT NULL AS "isFromDataSource",
  m.status IS NULL AND coalesce(v.state->>'unchecked', 'null') <> 'null' AS "isUnchecked",
  jsonb_path_query_array(v.state, '$.cells[*].region') AS voters,
  jsonb_path_query_array(v.state, '$.cells[*].state') AS states,
  CASE WHEN jsonb_path_query_first(v.state, '$.cells[*].doubt') IS NOT NULL THEN (
    SELECT jsonb_agg(cell->'region') FROM jsonb_array_elements(v.state->'cells') AS cell
    WHERE jsonb_typeof(cell->'doubt') = 'object' AND cell->'doubt'->>'settledBy' IS NULL) END AS held,
  CASE WHEN m.status IN ('down', 'degraded') THEN (
    SELECT jsonb_build_object('error', cell->'last'->'error', 'statusCode', cell->'last'->'statusCode',
      'responseTimeMs', cell->'last'->'responseTimeMs')
    FROM jsonb_array_elements(v.state->'cells') AS cell
    WHERE cell->>'state' IN ('failing', 'degraded') AND jsonb_typeof(cell->'last') = 'object'
    ORDER BY cell->>'state' DESC, cell->>'region' LIMIT 1) END AS cause,
  ARRAY (SELECT p.parent_id FROM monitor_parents p WHERE p.monitor_id = m.id ORDER BY p.parent_id) AS parents,
  (SELECT max(s.ends_at) FROM alert_silence_monitors sm JOIN alert_silences s ON s.id = sm.silence_id
   WHERE sm.monitor_id = m.id) AS "silencedUntil"`

const FROM = 'FROM monitors m LEFT JOIN verdict_states v ON v.monitor_id = m.id'

/** One page of a project's monitors for the board, by falling id. `before`: the last id of the previous page. */
export function listBoardSources(db: Db, projectId: string, before: string | null, limit: number) {
  return query<BoardSource>(
    db,
    `SELECT ${COLUMNS} ${FROM} WHERE m.project_id = :projectId AND m.deleted_at IS NULL
       ${before === null ? '' : 'AND m.id < :before'} ORDER BY m.id DESC LIMIT :limit`,
    { projectId, before, limit },
  )
}

/** Those of the monitors of a project that are not deleted, in no order. */
export function listBoardSourcesByIds(db: Db, projectId: string, ids: string[]) {
  return query<BoardSource>(
    db,
    `SELECT ${COLUMNS} ${FROM} WHERE m.id = ANY (CAST(:ids AS uuid[])) AND m.project_id = :projectId
       AND m.deleted_at IS NULL`,
    { projectId, ids },
  )
}
