import { newId } from '../../../foundation/platform/ids.ts'
import { type Db, execute, query, type Tx } from '../../../foundation/platform/postgres/client.ts'
import { now } from '../../../foundation/platform/time/clock.ts'
import type { RecordVersion } from '../../../foundation/web/conditions/record-version.ts'

/** A row of `alert_rules`: which events of one monitor one channel receives. */
export type StoredRule = {
  id: string
  projectId: string
  monitorId: string
  alertChannelId: string
  onDown: boolean
  onRecovery: boolean
  onDegraded: boolean
  /** the interval of reminders while an outage lasts; null: none */
  remindEveryMinutes: number | null
  createdAt: Date
  updatedAt: Date
}

export const RULE_COLUMNS = `
  id, project_id AS "projectId", monitor_id AS "monitorId", alert_channel_id AS "alertChannelId",
  on_down AS "onDown", on_recovery AS "onRecovery", on_degraded AS "onDegraded",
  remind_every_minutes AS "remindEveryMinutes", created_at AS "createdAt", updated_at AS "updatedAt"`

/** All rules of the monitors, of any project. */
export function listRulesOfMonitors(db: Db, monitorIds: string[]): Promise<StoredRule[]> {
  return query(db, `SELECT ${RULE_COLUMNS} FROM alert_rules WHERE monitor_id = ANY (?::uuid[]) ORDER BY id`, [
    monitorIds,
  ])
}

type RuleFilter = { monitorId: string | null }

// the rules of a deleted monitor stay in the table as long as its row, and are ignored
const HAS_LIVE_MONITOR_SQL = `EXISTS (
  SELECT FROM monitors WHERE monitors.id = alert_rules.monitor_id AND monitors.deleted_at IS NULL)`

export const RULE_VERSION: RecordVersion = {
  noun: 'rule',
  table: 'alert_rules',
  scope: `project_id = CAST(:projectId AS uuid)
    AND EXISTS (SELECT FROM monitors WHERE monitors.id = record.monitor_id AND monitors.deleted_at IS NULL)`,
}

/** A project's rules, newest first, and the total. Without `page` it returns all of them. */
export async function listRules(
  db: Db,
  projectId: string,
  { monitorId }: RuleFilter,
  page: { limit: number; offset: number } | null,
): Promise<{ rows: StoredRule[]; total: number }> {
  const bindings = { projectId, monitorId, ...page }
  const where = `project_id = :projectId AND ${HAS_LIVE_MONITOR_SQL}
    ${monitorId === null ? '' : 'AND monitor_id = :monitorId'}`
  const rows = await query<StoredRule>(
    db,
    `SELECT ${RULE_COLUMNS} FROM alert_rules WHERE ${where} ORDER BY id DESC ${page ? 'LIMIT :limit OFFSET :offset' : ''}`,
    bindings,
  )
  if (page === null) return { rows, total: rows.length }
  const [count] = await query<{ total: number }>(
    db,
    `SELECT count(*) AS total FROM alert_rules WHERE ${where}`,
    bindings,
  )
  return { rows, total: count?.total ?? 0 }
}

/** One rule. `id` must be a valid id. */
export async function findRule(db: Db, projectId: string, id: string): Promise<StoredRule | null> {
  const [row] = await query<StoredRule>(
    db,
    `SELECT ${RULE_COLUMNS} FROM alert_rules WHERE project_id = ? AND id = ? AND ${HAS_LIVE_MONITOR_SQL}`,
    [projectId, id],
  )
  return row ?? null
}

/** The same, locked until the transaction ends. The caller holds its monitor and channel, because deletions lock in that order. */
export async function lockRule(tx: Tx, projectId: string, id: string): Promise<StoredRule | null> {
  const sql = `SELECT ${RULE_COLUMNS} FROM alert_rules WHERE project_id = ? AND id = ? FOR NO KEY UPDATE`
  const [row] = await query<StoredRule>(tx, sql, [projectId, id])
  return row ?? null
}

/** Inserts rules in one statement. Violates a unique constraint when a pair has a rule; so does updateRule. */
export async function insertRules(tx: Tx, rules: StoredRule[]): Promise<void> {
  await execute(
    tx,
    `INSERT INTO alert_rules (id, project_id, monitor_id, alert_channel_id, on_down, on_recovery, on_degraded,
       remind_every_minutes, created_at, updated_at)
     SELECT id, "projectId", "monitorId", "alertChannelId", "onDown", "onRecovery", "onDegraded",
       "remindEveryMinutes", "createdAt", "updatedAt"
     FROM jsonb_to_recordset(:rows::jsonb) AS row (id uuid, "projectId" uuid, "monitorId" uuid,
       "alertChannelId" uuid, "onDown" boolean, "onRecovery" boolean, "onDegraded" boolean,
       "remindEveryMinutes" integer, "createdAt" timestamptz, "updatedAt" timestamptz)`,
    { rows: JSON.stringify(rules) },
  )
}

export async function updateRule(tx: Tx, rule: StoredRule): Promise<void> {
  await execute(
    tx,
    `UPDATE alert_rules SET monitor_id = :monitorId, alert_channel_id = :alertChannelId, on_down = :onDown,
       on_recovery = :onRecovery, on_degraded = :onDegraded, remind_every_minutes = :remindEveryMinutes,
       updated_at = :updatedAt
     WHERE id = :id AND project_id = :projectId`,
    rule,
  )
}

/** False when there is none. */
export async function deleteRule(db: Db, projectId: string, id: string): Promise<boolean> {
  const sql = `DELETE FROM alert_rules WHERE project_id = ? AND id = ? AND ${HAS_LIVE_MONITOR_SQL}`
  return (await execute(db, sql, [projectId, id])) === 1
}

/** Deletes rules. The caller has locked their monitors. */
export async function deleteRules(tx: Tx, ids: string[]): Promise<void> {
  await execute(tx, 'DELETE FROM alert_rules WHERE id = ANY (?::uuid[])', [ids])
}

/** Returns those of the monitors that the project does not have. The others cannot be deleted until the transaction ends. The ids are valid. */
export const holdMonitors = (tx: Tx, projectId: string, ids: string[]): Promise<string[]> =>
  lockAll(tx, MONITORS, projectId, ids, 'FOR KEY SHARE')

/** The same, and no other transaction can add rules to them. */
export const lockMonitorsForRules = (tx: Tx, projectId: string, ids: string[]): Promise<string[]> =>
  lockAll(tx, MONITORS, projectId, ids, 'FOR NO KEY UPDATE')

const MONITORS = 'SELECT id FROM monitors WHERE deleted_at IS NULL'

/** How many rules each of the monitors has, by its id. Monitors without rules are left out. */
export async function countRules(tx: Tx, monitorIds: string[]): Promise<Map<string, number>> {
  const sql = `SELECT monitor_id AS "monitorId", count(*) AS n FROM alert_rules
    WHERE monitor_id = ANY (?::uuid[]) GROUP BY monitor_id`
  const rows = await query<{ monitorId: string; n: number }>(tx, sql, [monitorIds])
  return new Map(rows.map(({ monitorId, n }) => [monitorId, n]))
}

/** True when the project has all of these channels. Their rows cannot be deleted until the transaction ends. The ids are valid. */
export const holdChannels = async (tx: Tx, projectId: string, ids: string[]): Promise<boolean> =>
  (await lockAll(tx, CHANNELS, projectId, ids, 'FOR KEY SHARE')).length === 0

const CHANNELS = 'SELECT id FROM alert_channels WHERE page_id IS NULL AND person_id IS NULL'

/** Those of the channels that the project has. In a transaction they cannot be deleted until it ends. The ids are valid. */
export async function holdExistingChannels(db: Db, projectId: string, ids: string[]): Promise<Set<string>> {
  const sql = `${CHANNELS} AND project_id = ? AND id = ANY (?::uuid[]) ORDER BY id FOR KEY SHARE`
  return new Set((await query<{ id: string }>(db, sql, [projectId, ids])).map(({ id }) => id))
}

async function lockAll(tx: Tx, select: string, projectId: string, ids: string[], lock: string): Promise<string[]> {
  const wanted = [...new Set(ids.map(id => id.toLowerCase()))]
  if (wanted.length === 0) return []
  const rows = await query<{ id: string }>(
    tx,
    `${select} AND project_id = :projectId AND id = ANY (CAST(:wanted AS uuid[])) ORDER BY id ${lock}`,
    { projectId, wanted },
  )
  const held = new Set(rows.map(({ id }) => id))
  return wanted.filter(id => !held.has(id))
}

/** Creates a rule with the default settings for each pair of a new monitor and a default channel of the project. */
export async function linkDefaultChannels(tx: Tx, projectId: string, monitorIds: string[]): Promise<void> {
  const channels = await query<{ id: string }>(
    tx,
    'SELECT id FROM alert_channels WHERE project_id = ? AND is_default ORDER BY id FOR KEY SHARE',
    [projectId],
  )
  const pairs = monitorIds.flatMap(monitorId =>
    channels.map(channel => ({ id: newId(), monitorId, channelId: channel.id })),
  )
  if (pairs.length === 0) return
  await execute(
    tx,
    `INSERT INTO alert_rules (id, project_id, monitor_id, alert_channel_id, on_down, on_recovery, on_degraded,
       created_at, updated_at)
     SELECT id, :projectId, monitor_id, channel_id, true, true, false, :now, :now
     FROM unnest(:ids::uuid[], :monitorIds::uuid[], :channelIds::uuid[]) AS pair (id, monitor_id, channel_id)
     ON CONFLICT (monitor_id, alert_channel_id) DO NOTHING`,
    {
      projectId,
      now: now(),
      ids: pairs.map(pair => pair.id),
      monitorIds: pairs.map(pair => pair.monitorId),
      channelIds: pairs.map(pair => pair.channelId),
    },
  )
}
