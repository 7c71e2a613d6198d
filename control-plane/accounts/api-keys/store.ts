import { type Db, execute, query } from '../../foundation/platform/postgres/client.ts'
import type { ApiCaller, Scope } from '../../foundation/web/auth/authentication.ts'

type ApiKeyRow = {
  id: string
  name: string
  scope: Scope
  hint: string
  created_by: string | null
  last_used_at: Date | null
  suspended_at: Date | null
  created_at: Date
  updated_at: Date
}

const COLUMNS = 'id, name, scope, hint, created_by, last_used_at, suspended_at, created_at, updated_at'

type NewApiKey = {
  id: string
  projectId: string
  createdBy: string | null
  name: string
  scope: Scope
  keyHash: Buffer
  hint: string
  now: Date
}

export async function insertApiKey(db: Db, key: NewApiKey): Promise<ApiKeyRow> {
  const [row] = await query<ApiKeyRow>(
    db,
    `INSERT INTO api_keys (id, project_id, created_by, name, scope, key_hash, hint, created_at, updated_at)
     VALUES (:id, :projectId, :createdBy, :name, :scope, :keyHash, :hint, :now, :now) RETURNING ${COLUMNS}`,
    key,
  )
  return row!
}

/** Newest first. */
export async function listApiKeys(db: Db, projectId: string, { limit, offset }: { limit: number; offset: number }) {
  const rows = await query<ApiKeyRow>(
    db,
    `SELECT ${COLUMNS} FROM api_keys WHERE project_id = ? ORDER BY id DESC LIMIT ? OFFSET ?`,
    [projectId, limit, offset],
  )
  const [count] = await query<{ total: number }>(
    db,
    'SELECT count(*)::integer AS total FROM api_keys WHERE project_id = ?',
    [projectId],
  )
  return { rows, total: count!.total }
}

type LockedKey = { id: string; scope: Scope; isSuspended: boolean }

/** Returns the project's keys and locks them until the transaction ends. */
export const lockKeys = (tx: Db, projectId: string) =>
  query<LockedKey>(
    tx,
    `SELECT id, scope, suspended_at IS NOT NULL AS "isSuspended" FROM api_keys
     WHERE project_id = ? ORDER BY id FOR UPDATE`,
    [projectId],
  )

/** Returns null for a deleted key. A key that works cannot be suspended or deleted until the transaction ends. */
export async function lockApiKeyForShare(tx: Db, id: string): Promise<{ isSuspended: boolean } | null> {
  const sql = 'SELECT suspended_at IS NOT NULL AS "isSuspended" FROM api_keys WHERE id = ? FOR SHARE'
  const [row] = await query<{ isSuspended: boolean }>(tx, sql, [id])
  return row ?? null
}

export const removeApiKey = (db: Db, projectId: string, id: string) =>
  execute(db, 'DELETE FROM api_keys WHERE project_id = ? AND id = ?', [projectId, id])

type KeyCaller = ApiCaller & { lastUsedAt: Date | null; isSuspended: boolean }

/** Finds the caller of a key by its SHA-256 or id. Returns null also for a key of a deleted organization. */
export async function findCaller(db: Db, which: { keyHash: Buffer } | { id: string }): Promise<KeyCaller | null> {
  const [row] = await query<KeyCaller>(
    db,
    `SELECT api_keys.project_id AS "projectId", projects.organization_id AS "organizationId", api_keys.id AS "keyId",
            api_keys.created_by AS "userId", api_keys.scope, api_keys.last_used_at AS "lastUsedAt",
            api_keys.suspended_at IS NOT NULL AS "isSuspended",
            EXISTS (SELECT FROM operator_project o WHERE o.project_id = api_keys.project_id) AS "isOperator",
            json_build_object('kind', 'api_key', 'id', api_keys.id, 'name', api_keys.name || ' (' || api_keys.hint || ')') AS actor
     FROM api_keys JOIN projects ON projects.id = api_keys.project_id
       JOIN organizations ON organizations.id = projects.organization_id
     WHERE ${'id' in which ? 'api_keys.id = :id' : 'api_keys.key_hash = :keyHash'} AND organizations.deleted_at IS NULL`,
    which,
  )
  return row ?? null
}

export const markUsed = (db: Db, keyId: string, minute: Date) =>
  execute(
    db,
    'UPDATE api_keys SET last_used_at = :minute WHERE id = :keyId AND (last_used_at IS NULL OR last_used_at < :minute)',
    {
      keyId,
      minute,
    },
  )
