import { now } from '../platform/clock.ts'
import { newId } from '../platform/ids.ts'
import { type Db, execute, query, type Tx } from '../platform/postgres.ts'

/** A row of `alert_rules`: which events of one monitor one channel hears. */
export type StoredRule = {
  id: string
  projectId: string
  monitorId: string
  alertChannelId: string
  onDown: boolean
  onRecovery: boolean
  onDegraded: boolean
  createdAt: Date
  updatedAt: Date
}

export const RULE_COLUMNS = `
  id, project_id AS "projectId", monitor_id AS "monitorId", alert_channel_id AS "alertChannelId",
  on_down AS "onDown", on_recovery AS "onRecovery", on_degraded AS "onDegraded",
  created_at AS "createdAt", updated_at AS "updatedAt"`

/** For the judge: all rules of some monitors, whichever project they belong to. */
export function rulesOfMonitors(db: Db, monitorIds: string[]): Promise<StoredRule[]> {
  return query(db, `SELECT ${RULE_COLUMNS} FROM alert_rules WHERE monitor_id = ANY (?::uuid[]) ORDER BY id`, [
    monitorIds,
  ])
}

/** Gives new monitors of a project a rule, with the defaults, for each of its default channels. */
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
