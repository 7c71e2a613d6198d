import { type Db, execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { FailureSource, Outcome, Trigger } from '../../shared/checks/result.ts'
import { insertMonitors, type MonitorSpec } from './verdict.ts'

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

/** Inserts monitors with the verdict states of their regions; one in fifty is down. */
export async function insertWatchedMonitors(
  db: Db,
  projectId: string,
  count: number,
  { regions = REGIONS, ...spec }: MonitorSpec = {},
): Promise<string[]> {
  const ids = await insertMonitors(db, projectId, count, { ...spec, regions })
  await execute(
    db,
    `UPDATE monitors m SET name = 'Service ' || row.n || ' of ' || (ARRAY['shop', 'search', 'login', 'billing'])[1 + row.n % 4],
       tags = ARRAY['team-' || row.n % 20, 'prod'], status = CASE WHEN row.n % 50 = 0 THEN 'down' ELSE 'up' END,
       status_changed_at = now() - row.n * interval '977 ms'
     FROM unnest(CAST(:ids AS uuid[])) WITH ORDINALITY AS row (id, n) WHERE m.id = row.id`,
    { ids },
  )
  await insertStates(db, ids, `CASE WHEN n % 50 = 0 AND region <> '${regions[1]}' THEN 'failing' ELSE 'ok' END`)
  return ids
}

/**
 * Stores a verdict state for each monitor, as a verdict process does: each region has voted now. `state`: SQL of the state of a
 * `region` of the `n`th monitor.
 */
export async function insertStates(db: Db, ids: string[], state: string): Promise<void> {
  const last = `jsonb_build_object('region', region, 'probeId', region, 'configVersion', m.config_version, 'epoch', 0,
    'scheduledAtMs', s.ms, 'attempt', 1, 'outcome', CASE WHEN s.state = 'failing' THEN ${Outcome.DOWN} ELSE ${Outcome.UP} END,
    'trigger', ${Trigger.SLOT},
    'statusCode', 0, 'responseTimeMs', 20, 'error', CASE WHEN s.state = 'failing' THEN
      jsonb_build_object('source', ${FailureSource.TARGET}, 'code', 'ECONNREFUSED', 'message', 'connection refused') END)`
  const cell = `jsonb_build_object('region', region, 'state', s.state, 'failures', s.failures, 'notUp', s.failures, 'better', 0,
    'fence', jsonb_build_object('configVersion', m.config_version, 'epoch', 0, 'scheduledAtMs', s.ms, 'attempt', 1),
    'votedAtMs', s.ms, 'firstFailure', CASE WHEN s.state = 'failing' THEN
      jsonb_build_object('atMs', s.ms, 'scheduledAtMs', s.ms) END, 'last', ${last}, 'secondOpinion', NULL)`
  await execute(
    db,
    `INSERT INTO verdict_states (monitor_id, partition, state, updated_at)
     SELECT m.id, m.partition, jsonb_build_object('monitorId', m.id, 'configVersion', m.config_version, 'status', m.status,
         'statusSinceMs', time.ms,
         'outageSinceMs', CASE WHEN m.status = 'down' THEN time.ms END, 'noMajoritySinceMs', NULL, 'quorumLostSinceMs', NULL,
         'askedAtMs', NULL, 'unchecked', NULL, 'restoredAtMs', NULL, 'cells', (
         SELECT jsonb_agg(${cell})
         FROM unnest(m.regions) AS region,
           LATERAL (SELECT ${state} AS state, time.ms) AS given,
           LATERAL (SELECT given.*, CASE WHEN given.state = 'failing' THEN 1 ELSE 0 END AS failures) AS s)), now()
     FROM unnest(CAST(:ids AS uuid[])) WITH ORDINALITY AS row (id, n) JOIN monitors m ON m.id = row.id,
       LATERAL (SELECT floor(extract(epoch FROM now()) * 1000) AS ms) AS time
     ON CONFLICT (monitor_id) DO UPDATE SET state = excluded.state, updated_at = excluded.updated_at`,
    { ids },
  )
}
