import { type Db, query } from '../../control-plane/foundation/platform/postgres/client.ts'

/** Tables that are not compared: counters and caches of requests, and heartbeats of processes. */
const ABOUT_REQUESTS = ['bootstrap_attempts', 'idempotency_keys', 'heartbeat_intake']

/** Every row of every table, by table, without the last use of keys. */
export async function readTables(db: Db): Promise<Record<string, unknown[]>> {
  const tables = await query<{ name: string }>(
    db,
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  )
  const kept = tables.filter(({ name }) => !ABOUT_REQUESTS.includes(name))
  const rows = await Promise.all(
    kept.map(({ name }) =>
      query(db, `SELECT (to_jsonb(x) - 'last_used_at')::text AS row FROM ?? x ORDER BY 1`, [name] as never),
    ),
  )
  return Object.fromEntries(kept.map(({ name }, i) => [name, rows[i]!]))
}
