import { type Db, query } from '../../control-plane/foundation/platform/postgres/client.ts'

/** Tables that are not compared: counters and caches of requests, and heartbeats of processes. */
const ABOUT_REQUESTS = ['bootstrap_attempts', 'idempotency_keys', 'heartbeat_intake']

/** Every row of every table, by table, without the last use of keys. */
export async function readTables(db: Db): Promise<Record<string, unknown[]>> {
  const tables = await query<{ name: string }>(
    db,
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  )
  const kept = tables.map(({ name }) => name).filter(name => !ABOUT_REQUESTS.includes(name))
  // one statement instead of one for each table: most tables are empty
  const selects = kept.map(() => `SELECT ? AS name, (to_jsonb(x) - 'last_used_at')::text AS row FROM ?? x`)
  const rows = await query<{ name: string; row: string }>(
    db,
    `${selects.join(' UNION ALL ')} ORDER BY 1, 2`,
    kept.flatMap(name => [name, name]) as never,
  )
  const stored: Record<string, unknown[]> = Object.fromEntries(kept.map(name => [name, []]))
  for (const { name, row } of rows) stored[name]!.push({ row })
  return stored
}
