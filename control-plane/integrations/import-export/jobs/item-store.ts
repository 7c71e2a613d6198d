import { type Db, execute, query } from '../../../foundation/platform/postgres/client.ts'
import { splitByWeight } from '../../../foundation/web/server/json-weight.ts'
import type { ImportItem } from './items.ts'

/** Values of a statement, about 5 ms of work. */
const WEIGHT_PER_STATEMENT = 10_000

/** Replaces the items of a job. */
export async function replaceItems(
  db: Db,
  jobId: string,
  items: readonly ImportItem[],
  pause: () => Promise<void>,
): Promise<void> {
  await execute(db, 'DELETE FROM import_items WHERE job_id = ?', [jobId])
  let first = 0
  for (const chunk of splitByWeight(items, WEIGHT_PER_STATEMENT)) {
    await execute(
      db,
      `INSERT INTO import_items (job_id, position, action, has_warnings, key, item)
       SELECT :jobId, :first + ordinality - 1, item->>'action', jsonb_array_length(item->'warnings') > 0, item->>'key', item
       FROM jsonb_array_elements(:items::jsonb) WITH ORDINALITY AS rows (item, ordinality)`,
      { jobId, first, items: JSON.stringify(chunk) },
    )
    first += chunk.length
    await pause()
  }
}

/** The deletions among items that are not among the stored items of a job. */
export async function listUnplannedDeletions(
  db: Db,
  jobId: string,
  items: readonly ImportItem[],
): Promise<{ key: string }[]> {
  const deleted = items.filter(({ action }) => action === 'delete')
  if (deleted.length === 0) return []
  return query(
    db,
    `SELECT row.key FROM jsonb_to_recordset(:deleted::jsonb) AS row (resource text, key text, id text)
     WHERE NOT EXISTS (
       SELECT FROM import_items WHERE job_id = :jobId AND action = 'delete'
         AND item->>'resource' = row.resource AND item->>'id' = row.id)
     ORDER BY row.key`,
    { jobId, deleted: JSON.stringify(deleted.map(({ resource, key, id }) => ({ resource, key, id }))) },
  )
}

/** `text`: a part of the name. `hasWarnings`: only items with warnings. */
type ItemFilter = { action?: string; hasWarnings?: boolean; text?: string }

export async function listItems(
  db: Db,
  jobId: string,
  { action, hasWarnings, text }: ItemFilter,
  page: { limit: number; offset: number },
): Promise<{ items: ImportItem[]; total: number }> {
  const bindings = {
    jobId,
    action: action ?? null,
    hasWarnings: hasWarnings ?? null,
    text: text === undefined ? null : `%${text.replace(/[\\%_]/g, '\\$&')}%`,
    ...page,
  }
  const where = `job_id = :jobId AND (CAST(:action AS text) IS NULL OR action = :action)
    AND (CAST(:hasWarnings AS boolean) IS NULL OR has_warnings = :hasWarnings) AND (CAST(:text AS text) IS NULL OR key ILIKE :text)`
  const [count] = await query<{ total: number }>(
    db,
    `SELECT count(*)::integer AS total FROM import_items WHERE ${where}`,
    bindings,
  )
  const rows = await query<{ item: ImportItem }>(
    db,
    `SELECT item FROM import_items WHERE ${where} ORDER BY position LIMIT :limit OFFSET :offset`,
    bindings,
  )
  return { items: rows.map(({ item }) => item), total: count!.total }
}
