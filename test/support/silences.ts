import { v7 as uuidv7 } from 'uuid'
import { DEFAULT_LIMITS } from '../../control-plane/accounts/plans/plans.ts'
import { type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { changeParents } from '../../control-plane/monitoring/monitors/parents/actions.ts'
import { applyDecisions } from '../../control-plane/verdict/core/decision-actions.ts'
import { decide } from '../../control-plane/verdict/core/rules/decide.ts'
import { createMonitorState } from '../../control-plane/verdict/core/rules/state.ts'
import type { MonitorState, Policy } from '../../control-plane/verdict/core/types.ts'
import { createWindow } from '../../control-plane/verdict/maintenance/actions.ts'
import { createSilence, endSilence } from '../../control-plane/verdict/silences/actions.ts'
import { reviewDueSilences } from '../../control-plane/verdict/suppression/review-actions.ts'
import { scheduleReview } from '../../control-plane/verdict/suppression/store.ts'
import { createLog } from '../../shared/process/log.ts'
import { createNextResult, insertChannel, insertMonitors, type MonitorSpec } from './verdict.ts'

const PUBLIC_URL = 'https://picket.example'
const log = createLog('test', 'silent')

export type Scenario = ReturnType<typeof createScenario>

/**
 * Monitors of one project on their own clock: checks go through the real verdict, silences are reviewed every
 * second that passes. Receivers get what is queued for them.
 */
export function createScenario(db: Db, projectId: string, startMs = Date.UTC(2026, 10, 21, 2)) {
  const states = new Map<string, MonitorState>()
  let nowMs = startMs
  const now = () => new Date(nowMs)

  const addMonitors = async (count: number, spec: MonitorSpec = {}): Promise<string[]> => {
    const ids = await insertMonitors(db, projectId, count, spec)
    const channelId = await insertChannel(db, projectId, ids)
    // one channel is subscribed to incidents
    await execute(
      db,
      `INSERT INTO alert_subscriptions (id, project_id, alert_channel_id, alert_type, created_at, updated_at)
       SELECT :id, :projectId, :channelId, 'incident', now(), now()
       WHERE NOT EXISTS (SELECT FROM alert_subscriptions WHERE project_id = :projectId)`,
      { id: uuidv7(), projectId, channelId },
    )
    return ids
  }
  /** One check of each monitor, decided together: `+` up, `-` down. Several characters are a check each second. */
  const check = async (ids: string[], checks: string, retryCount = 0) => {
    for (const one of checks) {
      const changes = ids.flatMap(id => {
        const before = states.get(id) ?? createMonitorState(id, 1)
        const { state, transition, store } = decide(
          before,
          buildCountedResult(id, one === '+', nowMs),
          buildPolicy(retryCount),
          nowMs,
        )
        states.set(id, state)
        return store !== 'no'
          ? [{ monitorId: id, configVersion: 1, state, transitions: transition ? [transition] : [] }]
          : []
      })
      await db.transaction(tx => applyDecisions(tx, changes, PUBLIC_URL, now()))
      await pass(1)
    }
  }
  const look = () => reviewDueSilences({ db, log }, 500, now())
  const pass = async (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      nowMs += 1_000
      while ((await look()) > 0);
    }
  }
  /** Lets many seconds pass without a review, and then runs one. */
  const leap = async (seconds: number) => {
    nowMs += seconds * 1_000
    while ((await look()) > 0);
  }
  return {
    db,
    projectId,
    now,
    addMonitors,
    check,
    look,
    pass,
    leap,
    forget: (id: string) => states.delete(id),
    maintain: (monitorIds: string[], seconds: number) =>
      createWindow(
        { db, limits: DEFAULT_LIMITS },
        projectId,
        {
          title: 'Move',
          monitor_ids: monitorIds,
          starts_at: now().toISOString(),
          ends_at: new Date(nowMs + seconds * 1_000).toISOString(),
        },
        now(),
      ),
    silence: (monitorIds: string[], seconds: number) =>
      createSilence(
        db,
        projectId,
        { monitor_ids: monitorIds, until: new Date(nowMs + seconds * 1_000).toISOString() },
        now(),
      ),
    endSilence: (id: string) => endSilence({ db, review: scheduleReview }, projectId, id, now()),
    depend: (child: string, parents: string[]) =>
      changeParents({ db, review: scheduleReview }, projectId, child, parents, now()),
    sent: (id: string) => listSent(db, id),
  }
}

function buildCountedResult(monitorId: string, up: boolean, scheduledAtMs: number) {
  const result = createNextResult(monitorId, { up, scheduledAtMs })
  return { ...result, region: 'us-east', probeId: 'probe-1', responseTimeMs: 12, error: result.error ?? null }
}

const buildPolicy = (retryCount: number): Policy => ({
  configVersion: 1,
  streaksSince: 1,
  regions: ['us-east'],
  retryCount,
  intervalMs: 30_000,
  timeoutMs: 5_000,
  expires: true,
})

/** What was sent about a monitor and its incidents, in order: "down created up resolved". `up-` ends no outage. */
async function listSent(db: Db, monitorId: string): Promise<string> {
  const rows = await query<{ name: string; duration: string | null }>(
    db,
    `SELECT d.event_name AS name, e.data->>'down_duration' AS duration FROM deliveries d JOIN events e ON e.id = d.event_id
     WHERE d.subject = 'monitor:' || CAST(:monitorId AS text)
       OR d.subject IN (SELECT 'incident:' || id FROM incidents WHERE cause_monitor_id = :monitorId)
     ORDER BY d.seq`,
    { monitorId },
  )
  const write = ({ name, duration }: { name: string; duration: string | null }) =>
    name === 'monitor.up' && duration === null ? 'up-' : name.replace(/^\w+\./, '')
  return rows.map(write).join(' ')
}

/** What happened to a monitor, sent or not, and then to its incidents. */
export async function formatEvents(db: Db, monitorId: string): Promise<string> {
  const rows = await query<{ name: string }>(
    db,
    `SELECT name FROM events WHERE subject = 'monitor:' || CAST(:monitorId AS text)
       OR subject IN (SELECT 'incident:' || id FROM incidents WHERE cause_monitor_id = :monitorId)
     ORDER BY subject LIKE 'incident:%', id`,
    { monitorId },
  )
  return rows.map(({ name }) => name.replace(/^\w+\./, '')).join(' ')
}

export async function countSuppressions(db: Db): Promise<number> {
  const [row] = await query<{ count: number }>(db, 'SELECT count(*) AS count FROM silences')
  return row!.count
}

export function listCauses(db: Db, monitorId: string) {
  return query<{ transition: string | null; incident: string | null }>(
    db,
    `SELECT t.caused_by_monitor_id AS transition, i.caused_by_monitor_id AS incident
     FROM transitions t LEFT JOIN incidents i ON i.cause_monitor_id = t.monitor_id AND i.started_at = t.at
     WHERE t.monitor_id = ? AND t.to_status = 'down' ORDER BY t.at`,
    [monitorId],
  )
}
