import { randomBytes } from 'node:crypto'
import { firstIdAt } from '../../control-plane/foundation/platform/ids.ts'
import { type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import type { RetentionSettings } from '../../control-plane/operations/retention/settings.ts'
import { startRetentionWorker } from '../../control-plane/operations/retention/worker.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { waitFor } from './wait.ts'

export const RETENTION: RetentionSettings = {
  deliveries: 30,
  events: 90,
  explanations: 400,
  transitions: 800,
  incidents: 800,
  deleted: 30,
  probes: 180,
}

export const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 3_600_000)

/** A record id as it would have been generated at that time. */
export const createAgedId = (days: number) => firstIdAt(daysAgo(days)).slice(0, 24) + randomBytes(6).toString('hex')
export const createAgedDeliveryId = (days: number) => `whd_${createAgedId(days).replaceAll('-', '')}`

/** A process with the role schedule that deletes old rows. */
export function startRetention(db: Db, retention: Partial<RetentionSettings> = {}) {
  const metrics = createMetrics()
  const log = createLog('test', process.env.LOG_LEVEL ?? 'silent')
  const worker = startRetentionWorker({ db, log, metrics, retention: { ...RETENTION, ...retention } })
  const sample = async (line: string) => {
    const { text } = await metrics.render()
    const found = text.split('\n').find(one => one.startsWith(`${line} `))
    return found === undefined ? null : Number(found.split(' ').at(-1))
  }
  return { ...worker, sample }
}

/** Runs one complete round. Returns how many rows each rule changed. */
export async function runRetentionRound(db: Db, retention: Partial<RetentionSettings> = {}) {
  const worker = startRetention(db, retention)
  try {
    await waitFor(() => worker.sample('picket_loop_rounds_total{loop="retention",outcome="ok"}'))
    return (rule: string) => worker.sample(`picket_retention_rows_total{rule="${rule}"}`)
  } finally {
    await worker.stop()
  }
}

/** Inserts a row from a record of its columns. Returns its id. */
export async function insertRow(db: Db, table: string, row: Record<string, unknown>): Promise<string> {
  const columns = Object.keys(row)
  const [first] = await query<{ id: string }>(
    db,
    `INSERT INTO ${table} (${columns}) VALUES (${columns.map(column => `:${column}`)}) RETURNING ${columns[0]} AS id`,
    row as Record<string, string>,
  )
  return first!.id
}

export const insertEvent = (db: Db, projectId: string, days: number, row: Record<string, unknown> = {}) =>
  insertRow(db, 'events', {
    id: createAgedId(days),
    project_id: projectId,
    name: 'monitor.up',
    subject: 'monitor:x',
    data: '{}',
    occurred_at: daysAgo(days),
    ...row,
  })

export const insertDelivery = (
  db: Db,
  { projectId, channelId, eventId }: { projectId: string; channelId: string; eventId: string },
  days: number,
  row: Record<string, unknown> = {},
) =>
  insertRow(db, 'deliveries', {
    id: createAgedDeliveryId(days),
    project_id: projectId,
    channel_id: channelId,
    event_id: eventId,
    event_name: 'monitor.up',
    subject: 'monitor:x',
    status: 'delivered',
    created_at: daysAgo(days),
    updated_at: daysAgo(days),
    ...row,
  })

export const insertTransition = (db: Db, projectId: string, monitorId: string, days: number, to: string) =>
  insertRow(db, 'transitions', {
    id: createAgedId(days),
    project_id: projectId,
    monitor_id: monitorId,
    from_status: 'up',
    to_status: to,
    at: daysAgo(days),
    quorum: 'full',
    summary: 'why',
    explanation: '{"votes":[]}',
    created_at: daysAgo(days),
  })

export const insertIncident = async (db: Db, projectId: string, days: number, row: Record<string, unknown> = {}) => {
  const id = await insertRow(db, 'incidents', {
    id: createAgedId(days),
    project_id: projectId,
    title: 'Down',
    severity: 'major',
    status: 'resolved',
    source: 'automatic',
    started_at: daysAgo(days),
    resolved_at: daysAgo(days),
    created_at: daysAgo(days),
    updated_at: daysAgo(days),
    ...row,
  })
  await insertRow(db, 'incident_updates', {
    id: createAgedId(days),
    incident_id: id,
    status: 'resolved',
    message: 'over',
    is_internal: false,
    created_at: daysAgo(days),
  })
  return id
}

export const insertIncidentMonitor = (db: Db, incidentId: string, monitorId: string) =>
  insertRow(db, 'incident_monitors', { incident_id: incidentId, monitor_id: monitorId })

export const deleteMonitorAt = (db: Db, monitorId: string, days: number) =>
  execute(db, 'UPDATE monitors SET deleted_at = ? WHERE id = ?', [daysAgo(days), monitorId])

/** Returns which of these ids are still in a table. */
export async function listKept(db: Db, table: string, ids: Record<string, string>): Promise<string[]> {
  const rows = await query<{ id: string }>(db, `SELECT id FROM ${table} WHERE id::text = ANY (:ids)`, {
    ids: Object.values(ids),
  })
  const kept = new Set(rows.map(({ id }) => id))
  return Object.keys(ids).filter(name => kept.has(ids[name]!))
}
