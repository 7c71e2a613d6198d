import { type Db, execute, query } from '../../foundation/platform/postgres/client.ts'
import type { AuditChange, AuditRow } from './audit-entry.ts'

export type AuditRecord = {
  action: AuditRow['action']
  /** the noun of the API, as in the table of migration 0018 */
  resource: string
  resourceId: string | null
  resourceName: string | null
  changes?: Record<string, AuditChange>
  /** the organization concerned, where the operator acts */
  organizationId?: string
}

/** Writes an act of the actor that the transaction's setting names. Without an actor nothing is written. */
export async function insertAuditRecord(tx: Db, { changes = {}, organizationId, ...act }: AuditRecord): Promise<void> {
  await execute(
    tx,
    `INSERT INTO audit_log (project_id, organization_id, actor_kind, actor_id, actor_name, ip, action, resource,
       resource_id, resource_name, changes)
     SELECT (actor ->> 'projectId')::uuid, coalesce(:organizationId, actor ->> 'organizationId')::uuid, actor ->> 'kind', (actor ->> 'id')::uuid,
       actor ->> 'name', (actor ->> 'ip')::inet, :action, :resource, :resourceId, :resourceName, :changes
     FROM (SELECT nullif(current_setting('picket.actor', true), '')::jsonb AS actor) AS setting
     WHERE actor IS NOT NULL`,
    { ...act, organizationId: organizationId ?? null, changes: JSON.stringify(changes) },
  )
}

/** Null: any. */
type AuditFilter = {
  actorId: string | null
  resource: string | null
  resourceId: string | null
  recordIds: string[] | null
  action: AuditRow['action'] | null
  from: Date | null
  to: Date | null
}

/** A project with entries about its whole organization; an organization (`projectId` null); or everything (null). */
type AuditScope = { organizationId: string; projectId: string | null } | null

const COLUMNS = `id, at, actor_kind AS "actorKind", actor_id AS "actorId", actor_name AS "actorName", host(ip) AS ip, action,
  resource, resource_id AS "resourceId", resource_name AS "resourceName", changes`

const MATCHES = `(:organizationId::uuid IS NULL OR organization_id = :organizationId)
  AND (:projectId::uuid IS NULL OR project_id IS NULL OR project_id = :projectId)
  AND (:actorId::uuid IS NULL OR actor_id = :actorId) AND (:resource::text IS NULL OR resource = :resource)
  AND (:resourceId::text IS NULL OR resource_id = :resourceId)
  AND (:recordIds::text[] IS NULL OR resource_id = ANY (:recordIds::text[])) AND (:action::text IS NULL OR action = :action)
  AND (:from::timestamptz IS NULL OR at >= :from) AND (:to::timestamptz IS NULL OR at < :to)`

/** Newest first. */
export async function listAudit(
  db: Db,
  scope: AuditScope,
  filter: AuditFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: AuditRow[]; total: number }> {
  const bindings = { organizationId: null, projectId: null, ...scope, ...filter }
  const [rows, [count]] = await Promise.all([
    query<AuditRow>(
      db,
      `SELECT ${COLUMNS} FROM audit_log WHERE ${MATCHES} ORDER BY seq DESC LIMIT :limit OFFSET :offset`,
      { ...bindings, limit, offset },
    ),
    query<{ total: number }>(db, `SELECT count(*)::integer AS total FROM audit_log WHERE ${MATCHES}`, bindings),
  ])
  return { rows, total: count!.total }
}

/** The id of a monitor of a project and of all alert rules that it has or had. `monitorId` must be a valid id. */
export async function listMonitorRecordIds(db: Db, projectId: string, monitorId: string): Promise<string[]> {
  const rows = await query<{ id: string }>(
    db,
    `SELECT id::text FROM alert_rules WHERE monitor_id = :monitorId AND project_id = :projectId
     UNION
     SELECT resource_id FROM audit_log
     WHERE resource = 'alert_rule' AND action <> 'updated' AND project_id = :projectId
       AND coalesce(changes #>> '{monitor_id,to}', changes #>> '{monitor_id,from}') = CAST(:monitorId AS text)`,
    { projectId, monitorId },
  )
  return [monitorId, ...rows.map(({ id }) => id)]
}

/** Changes of records of a project between two moments, in order. */
export function listAuditOfRecords(
  db: Db,
  projectId: string,
  resource: string,
  resourceIds: string[],
  span: { from: Date; to: Date },
  limit: number,
): Promise<AuditRow[]> {
  return query(
    db,
    `SELECT ${COLUMNS} FROM audit_log WHERE resource_id = ANY (CAST(:resourceIds AS text[])) AND resource = :resource
       AND project_id = :projectId AND at >= :from AND at <= :to ORDER BY seq LIMIT :limit`,
    { projectId, resource, resourceIds, ...span, limit },
  )
}

const RETENTION_DAYS = 365

/** Deletes up to `limit` entries that are older than a year. Returns their number. */
export const pruneAuditLog = (db: Db, now: Date, limit: number): Promise<number> =>
  execute(
    db,
    `DELETE FROM audit_log WHERE id IN
       (SELECT id FROM audit_log WHERE at < :before ORDER BY at LIMIT :limit)`,
    { limit, before: new Date(now.getTime() - (RETENTION_DAYS * 24 + 1) * 3_600_000) },
  )
