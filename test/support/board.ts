import { type Db, execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { insertMonitors } from './verdict.ts'

// biome-ignore lint/suspicious/noExplicitAny: values of every column
type BoardRows = Map<string, any>

/** Applies an answer of the board or the changes of an event to the rows that a client has. */
// biome-ignore lint/suspicious/noExplicitAny: an answer of the API
export function applyBoard(rows: BoardRows, board: any): BoardRows {
  if (board.reset) rows.clear()
  for (const id of board.removed) rows.delete(id)
  const { id: ids, ...columns } = board.monitors
  for (const [i, id] of ids.entries())
    rows.set(id, Object.fromEntries(Object.entries<unknown[]>(columns).map(([name, values]) => [name, values[i]])))
  return rows
}

const REGIONS = ['us-east', 'eu-west', 'ap-southeast']

/** Inserts monitors with the verdict states of three regions; one in fifty is down. */
export async function insertWatchedMonitors(db: Db, projectId: string, count: number): Promise<string[]> {
  const ids = await insertMonitors(db, projectId, count, { regions: REGIONS })
  await execute(
    db,
    `UPDATE monitors m SET name = 'Service ' || row.n || ' of ' || (ARRAY['shop', 'search', 'login', 'billing'])[1 + row.n % 4],
       tags = ARRAY['team-' || row.n % 20, 'prod'], status = CASE WHEN row.n % 50 = 0 THEN 'down' ELSE 'up' END,
       status_changed_at = now() - row.n * interval '977 ms'
     FROM unnest(CAST(:ids AS uuid[])) WITH ORDINALITY AS row (id, n) WHERE m.id = row.id`,
    { ids },
  )
  await insertStates(db, ids, `CASE WHEN n % 50 = 0 AND region <> 'eu-west' THEN 'failing' ELSE 'ok' END`)
  return ids
}

/** Stores a verdict state for each monitor. `state`: SQL of the state of a `region` of the `n`th monitor. */
export async function insertStates(db: Db, ids: string[], state: string): Promise<void> {
  const last = `jsonb_build_object('region', region, 'statusCode', 0, 'responseTimeMs', 20, 'outcome', 'down',
    'error', CASE WHEN s.state = 'failing' THEN
      jsonb_build_object('source', 'target', 'code', 'ECONNREFUSED', 'message', 'connection refused') END)`
  await execute(
    db,
    `INSERT INTO verdict_states (monitor_id, partition, state, updated_at)
     SELECT m.id, m.partition, jsonb_build_object('monitorId', m.id, 'status', m.status, 'unchecked', NULL, 'cells', (
         SELECT jsonb_agg(jsonb_build_object('region', region, 'state', s.state, 'failures', 0, 'last', ${last}))
         FROM unnest(m.regions) AS region, LATERAL (SELECT ${state} AS state) AS s)), now()
     FROM unnest(CAST(:ids AS uuid[])) WITH ORDINALITY AS row (id, n) JOIN monitors m ON m.id = row.id
     ON CONFLICT (monitor_id) DO UPDATE SET state = excluded.state, updated_at = excluded.updated_at`,
    { ids },
  )
}
