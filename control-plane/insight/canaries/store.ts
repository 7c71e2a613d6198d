import type { Region } from '../../../shared/checks/check.ts'
import { type Db, execute, query, type Tx } from '../../foundation/platform/postgres/client.ts'
import { hasRowsJoined } from '../../foundation/platform/postgres/joined-reads.ts'
import { LOCK_KEYS } from '../../foundation/platform/postgres/lock-keys.ts'
import type { MonitorStatus } from '../../monitoring/monitors/types.ts'
import type { CanaryLimits, GuaranteeComparison } from './measurement/guarantee.ts'
import type {
  CanaryAlert,
  CanaryFacts,
  CanaryOutcome,
  CanaryTransition,
  OutageMeasurement,
} from './measurement/measure.ts'
import type { CanaryOutage, CanarySchedule, FailureKind } from './schedule.ts'

/** Locks the canaries until the transaction ends. Creating and removing canaries take this lock. */
export const lockCanaries = (tx: Tx) => tx.raw(`SELECT pg_advisory_xact_lock(${LOCK_KEYS.canaries})`)

type CanaryProject = { projectId: string; organizationId: string; channelId: string | null }

/** Null until canaries are created for the first time. */
export async function findCanaryProject(db: Db): Promise<CanaryProject | null> {
  const [row] = await query<CanaryProject>(
    db,
    `SELECT c.project_id AS "projectId", p.organization_id AS "organizationId", c.channel_id AS "channelId"
     FROM canary_project c JOIN projects p ON p.id = c.project_id`,
  )
  return row ?? null
}

/** Creates the project of the canaries in the organization of another project. */
export async function insertCanaryProject(tx: Tx, projectId: string, siblingId: string, now: Date): Promise<void> {
  await execute(
    tx,
    `INSERT INTO projects (id, organization_id, name, created_at, updated_at)
     SELECT :projectId, organization_id, 'Canaries', :now, :now FROM projects WHERE id = :siblingId`,
    { projectId, siblingId, now },
  )
  await execute(tx, 'INSERT INTO canary_project (project_id, created_at) VALUES (?, ?)', [projectId, now])
}

export async function saveReceiverChannel(tx: Tx, channelId: string | null): Promise<void> {
  await execute(tx, 'UPDATE canary_project SET channel_id = ?', [channelId])
}

export type Canary = CanarySchedule & {
  monitorId: string
  measuredSince: Date
  isPaused: boolean
  status: MonitorStatus | null
  intervalSeconds: number
  timeoutMs: number
  retryCount: number
  /** of the last measured failure of its region; null: none */
  lastStartedAt: Date | null
  lastOutcome: CanaryOutcome | null
  lastKind: FailureKind | null
}

/** Whether there is any canary: what a process without canaries asks. */
export const hasCanaries = (db: Db): Promise<boolean> => hasRowsJoined(db, 'SELECT FROM canaries')

/** The canaries whose monitor is not deleted, by region. */
export function loadCanaries(db: Db): Promise<Canary[]> {
  return query(
    db,
    `SELECT c.region, c.every_seconds AS "everySeconds", c.for_seconds AS "forSeconds", c.kinds, c.monitor_id AS "monitorId",
       c.measured_since AS "measuredSince", m.is_paused AS "isPaused", m.status,
       m.interval_seconds AS "intervalSeconds", m.timeout_ms AS "timeoutMs", m.retry_count AS "retryCount", last.started_at AS "lastStartedAt",
       CASE last.outcome WHEN 'told' THEN 'reported' ELSE last.outcome END AS "lastOutcome", last.kind AS "lastKind"
     FROM canaries c JOIN monitors m ON m.id = c.monitor_id
     LEFT JOIN LATERAL (SELECT started_at, outcome, kind FROM canary_outages o WHERE o.region = c.region
                        ORDER BY started_at DESC LIMIT 1) last ON true
     WHERE m.deleted_at IS NULL ORDER BY c.region`,
  )
}

/** Saves the canary of a region, measured from now on. An unchanged canary is measured without interruption. */
export async function saveCanary(tx: Tx, schedule: CanarySchedule, monitorId: string, now: Date): Promise<void> {
  await execute(
    tx,
    `INSERT INTO canaries AS c
       (region, monitor_id, every_seconds, for_seconds, kinds, measured_since, created_at, updated_at)
     VALUES (:region, :monitorId, :everySeconds, :forSeconds, CAST(:kinds AS text[]), :now, :now, :now)
     ON CONFLICT (region) DO UPDATE SET monitor_id = excluded.monitor_id, every_seconds = excluded.every_seconds,
       for_seconds = excluded.for_seconds, kinds = excluded.kinds, measured_since = excluded.measured_since, updated_at = excluded.updated_at
     WHERE (c.monitor_id, c.every_seconds, c.for_seconds, c.kinds)
       IS DISTINCT FROM (excluded.monitor_id, excluded.every_seconds, excluded.for_seconds, excluded.kinds)`,
    { ...schedule, kinds: [...schedule.kinds], monitorId, now },
  )
}

/** Deletes the canaries of all other regions. The caller deletes their monitors. */
export const deleteCanaries = (tx: Tx, kept: Region[]) =>
  execute(tx, 'DELETE FROM canaries WHERE region <> ALL (CAST(? AS text[]))', [kept])

type ReceiverChannel = { id: string; projectId: string; signingSecret: Buffer | null }

/** The channel for the alerts of canaries. */
export async function findReceiverChannel(db: Db): Promise<ReceiverChannel | null> {
  const [row] = await query<ReceiverChannel>(
    db,
    `SELECT a.id, a.project_id AS "projectId", a.signing_secret AS "signingSecret"
     FROM canary_project c JOIN alert_channels a ON a.id = c.channel_id`,
  )
  return row ?? null
}

/** Stores the first arrival of a delivery about a canary. Repetitions and other deliveries are ignored. */
export async function insertCanaryAlert(
  db: Db,
  alert: { deliveryId: string; monitorId: string; now: Date },
): Promise<void> {
  await execute(
    db,
    `INSERT INTO canary_alerts (delivery_id, monitor_id, received_at)
     SELECT :deliveryId, monitor_id, :now FROM canaries WHERE monitor_id = :monitorId
     ON CONFLICT (delivery_id) DO NOTHING`,
    alert,
  )
}

/** Loads the data for the measurement of one failure. */
export async function loadCanaryFacts(
  db: Db,
  { monitorId, isPaused }: Canary,
  outage: CanaryOutage,
): Promise<CanaryFacts> {
  const bindings = { monitorId, from: outage.startedAt, to: outage.settledAt }
  const [[before], changes, alerts] = await Promise.all([
    query<{ to: string | null }>(
      db,
      `SELECT to_status AS "to" FROM transitions WHERE monitor_id = :monitorId AND at < :from
       ORDER BY at DESC, id DESC LIMIT 1`,
      bindings,
    ),
    query<CanaryTransition>(
      db,
      `SELECT to_status AS "to", at, created_at AS "committedAt",
         CAST(explanation->'timings'->>'first_failure_at' AS timestamptz) AS "firstFailureAt"
       FROM transitions WHERE monitor_id = :monitorId AND at >= :from AND at < :to ORDER BY at, id`,
      bindings,
    ),
    query<CanaryAlert>(
      db,
      `SELECT d.event_name AS event, e.occurred_at AS at, a.received_at AS "receivedAt"
       FROM canary_alerts a JOIN deliveries d ON d.id = a.delivery_id JOIN events e ON e.id = d.event_id
       WHERE a.monitor_id = :monitorId AND a.received_at >= :from AND e.occurred_at >= :from AND e.occurred_at < :to
       ORDER BY a.received_at, a.delivery_id`,
      bindings,
    ),
  ])
  return { wasPaused: isPaused || before?.to === null, wasUp: before?.to === 'up', changes, alerts }
}

/** A planned failure and its measured result. */
export type MeasuredOutage = OutageMeasurement &
  CanaryOutage &
  GuaranteeComparison & { region: Region; limits: CanaryLimits }

/** False when another process was faster. `reported` is stored as `told`, which processes of an earlier version write too. */
export async function insertOutage(db: Db, row: MeasuredOutage & { now: Date }): Promise<boolean> {
  const { limits, stages, outcome, ...rest } = row
  const touched = await execute(
    db,
    `INSERT INTO canary_outages (region, kind, started_at, ended_at, outcome, stages, guarantee, down_within,
       message_within, late_seconds, created_at)
     VALUES (:region, :kind, :startedAt, :endedAt, :outcome, :stages, :guarantee, :downWithin, :messageWithin,
       :lateSeconds, :now) ON CONFLICT (region, started_at) DO NOTHING`,
    { ...rest, ...limits, outcome: outcome === 'reported' ? 'told' : outcome, stages: JSON.stringify(stages) },
  )
  return touched === 1
}

/** Deletes measurements and received alerts from before a time. */
export async function pruneCanaryHistory(db: Db, before: Date): Promise<void> {
  await execute(db, 'DELETE FROM canary_outages WHERE started_at < ?', [before])
  await execute(db, 'DELETE FROM canary_alerts WHERE received_at < ?', [before])
}
