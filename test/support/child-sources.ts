import { v7 as uuidv7 } from 'uuid'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { applyFetch } from '../../control-plane/integrations/data-sources/children/apply-actions.ts'
import type { ChildOutcome, EvaluatedChild } from '../../control-plane/integrations/data-sources/evaluation/evaluate.ts'
import {
  type ClaimedSource,
  claimDue,
  endFetches,
} from '../../control-plane/integrations/data-sources/fetching/claim-store.ts'
import {
  buildFetchEnd,
  type FetchResult,
  hasChanges,
} from '../../control-plane/integrations/data-sources/fetching/fetch-result.ts'
import { insertTenant } from './tenant.ts'
import { insertChannel } from './verdict.ts'

export const LEASE_MS = 60_000

/** What `applyFetch` needs. */
export const createApplyTools = (db: Db) => ({
  ...{ db, publicUrl: 'https://picket.test' },
  ...{ secrets: createSecretCipher(Buffer.alloc(32)), checkLiteral: () => null },
})

type GetResult = (claimed: ClaimedSource) => Promise<FetchResult>

/** Creates a source with one field, due now, with functions that act as a worker. */
export async function createSource(db: Db, interval = 60, url = 'https://cells.example/') {
  const tools = createApplyTools(db)
  const { organizationId, projectId } = await insertTenant(db)
  const channelId = await insertChannel(db, projectId, [])
  await execute(db, 'UPDATE alert_channels SET is_default = true WHERE id = ?', [channelId])
  const [id, fieldId] = [uuidv7(), uuidv7()]
  await execute(
    db,
    `WITH source AS (
       INSERT INTO data_sources (id, project_id, name, url, method, fetch_interval_s, timeout_ms, next_fetch_at,
         created_at, updated_at)
       VALUES (:id, :projectId, 'Cells', :url, 'GET', :interval, 1000, now(), now(), now())
       RETURNING id)
     INSERT INTO data_source_fields (id, data_source_id, path, name_template, rule_type, rule_config, display_order,
       created_at, updated_at)
     SELECT :fieldId, id, 'cells.*', 'Cell {{key}}', 'truthy', '{}', 0, now(), now() FROM source`,
    { id, projectId, fieldId, interval, url },
  )
  const child = (key: string, outcome: ChildOutcome, name = `Cell ${key}`): EvaluatedChild => {
    return { fieldId, key, name, value: outcome, typed: outcome, outcome, reason: `cells.${key} is ${outcome}` }
  }
  const foundAs = ([key, outcome]: [string, ChildOutcome]) => child(key, outcome)
  const claim = async (): Promise<ClaimedSource> => {
    await execute(db, 'UPDATE data_sources SET next_fetch_at = now() WHERE id = ?', [id])
    return (await claimDue(db, 'one', 100, LEASE_MS)).find(source => source.id === id)!
  }
  /** Fetches once. Returns true when it needed a transaction. */
  const fetch = async (given: FetchResult | GetResult, at = new Date()): Promise<boolean> => {
    const source = await claim()
    const result = typeof given === 'function' ? await given(source) : given
    const done = { source, result, startedAt: at, endedAt: at, responseTimeMs: 12 }
    if (hasChanges(done)) return applyFetch(tools, 'one', done)
    await endFetches(db, 'one', [buildFetchEnd(done)])
    return false
  }
  const fetchChildren = (children: EvaluatedChild[], at?: Date) => fetch({ children, keys: children.length }, at)
  return {
    ...{ id, organizationId, projectId, fieldId, child, claim },
    fetch: (cells: Record<string, ChildOutcome>, at?: Date) => fetchChildren(Object.entries(cells).map(foundAs), at),
    fetchResult: (getResult: GetResult) => fetch(getResult),
    names: (cells: Record<string, string>) =>
      fetchChildren(Object.entries(cells).map(([key, name]) => child(key, 'up', name))),
    fails: (isOurFault = false) =>
      fetch({ failure: { code: 'http_status', message: 'the source responded with status 500', isOurFault } }),
    monitors: () =>
      query<{ id: string; key: string; name: string; status: string | null; isGone: boolean }>(
        db,
        `SELECT m.id, c.key, m.name, m.status, m.deleted_at IS NOT NULL AS "isGone"
         FROM data_source_children c JOIN monitors m ON m.id = c.monitor_id WHERE c.data_source_id = ? ORDER BY c.key`,
        [id],
      ),
    events: async () =>
      (
        await query<{ name: string }>(
          db,
          "SELECT name FROM events WHERE project_id = ? AND name LIKE 'monitor.%' ORDER BY id",
          [projectId],
        )
      ).map(({ name }) => name),
    incidents: () =>
      query<{ title: string; status: string; severity: string }>(
        db,
        'SELECT title, status, severity FROM incidents WHERE project_id = ? ORDER BY id',
        [projectId],
      ),
  }
}
