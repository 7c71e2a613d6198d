import { v7 as uuidv7 } from 'uuid'
import { connectNats, ensureStreams, type Nats } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres, type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { storeCertificates } from '../../control-plane/verdict/expiry/actions.ts'
import { startVerdictWorker } from '../../control-plane/verdict/reader/worker.ts'
import { REGIONS } from '../../shared/checks/check.ts'
import { Outcome, type Result, ResultBatch } from '../../shared/checks/result.ts'
import { computePartition, resultSubject } from '../../shared/nats/subjects.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createDatabase } from './database.ts'
import { startNats } from './nats.ts'
import { createIdOfPartition } from './partitions.ts'
import { createResult } from './results.ts'
import type { Teardown } from './teardown.ts'
import { insertTenant } from './tenant.ts'
import { waitFor } from './wait.ts'

/** `partition`: that of the monitor's results; without it, any. */
export type MonitorSpec = {
  retryCount?: number
  regions?: string[]
  intervalSeconds?: number
  name?: string
  partition?: number
}

/** Inserts a monitor directly, as the monitors room stores it. */
export async function insertMonitor(db: Db, projectId: string, spec: MonitorSpec = {}): Promise<string> {
  const [id] = await insertMonitors(db, projectId, 1, spec)
  return id!
}

export async function insertMonitors(db: Db, projectId: string, count: number, spec: MonitorSpec = {}) {
  const { retryCount = 0, regions = ['us-east'], intervalSeconds = 30, name = 'Shop', partition } = spec
  const ids = Array.from({ length: count }, () => (partition === undefined ? uuidv7() : createIdOfPartition(partition)))
  await execute(
    db,
    `INSERT INTO monitors (id, project_id, partition, name, type, url, method, interval_seconds, timeout_ms, regions,
       keyword_type, ssl_check, domain_check, screenshot_on_failure, screenshot_compare, screenshot_threshold,
       retry_count, created_at, updated_at)
     SELECT id, :projectId, partition, :name, 'http', 'https://shop.example', 'GET', :intervalSeconds, 5000,
       CAST(:regions AS text[]), 'contains', false, false, true, false, 0.05, :retryCount, now(), now()
     FROM unnest(CAST(:ids AS uuid[]), CAST(:partitions AS smallint[])) AS row (id, partition)`,
    { projectId, name, intervalSeconds, regions, retryCount, ids, partitions: ids.map(computePartition) },
  )
  return ids
}

/** A webhook channel with a rule for everything on each monitor; its config is never opened here. */
export async function insertChannel(db: Db, projectId: string, monitorIds: string[]): Promise<string> {
  const id = uuidv7()
  await execute(
    db,
    `INSERT INTO alert_channels (id, project_id, name, type, config, is_default, created_at, updated_at)
     VALUES (:id, :projectId, 'Hook', 'webhook', '', false, now(), now())`,
    { id, projectId },
  )
  await execute(
    db,
    `INSERT INTO alert_rules (id, project_id, monitor_id, alert_channel_id, on_down, on_recovery, on_degraded,
       created_at, updated_at)
     SELECT gen_random_uuid(), :projectId, monitor_id, :id, true, true, true, now(), now()
     FROM unnest(CAST(:monitorIds AS uuid[])) AS row (monitor_id)`,
    { id, projectId, monitorIds },
  )
  return id
}

/** Epochs that tests publish results of are lower than this one. */
const EPOCH_IN_FORCE = 1_000

/** The probes that publish in tests. */
const PROBES = ['probe-1', ...REGIONS.map(region => `probe-${region}`)]

/** Makes results of these probes count, in all regions and in every epoch that tests use. */
export async function insertLiveProbes(db: Db, probeIds = PROBES): Promise<void> {
  await execute(
    db,
    `INSERT INTO region_epochs (region, epoch, probe_ids, updated_at)
     SELECT region, ?, '{}', now() FROM unnest(CAST(? AS text[])) region
     ON CONFLICT (region) DO UPDATE SET epoch = greatest(region_epochs.epoch, excluded.epoch)`,
    [EPOCH_IN_FORCE, [...REGIONS]],
  )
  await execute(
    db,
    `INSERT INTO live_probes (region, probe_id, from_epoch)
     SELECT region, probe_id, 0 FROM unnest(CAST(? AS text[])) region, unnest(CAST(? AS text[])) probe_id`,
    [[...REGIONS], probeIds],
  )
}

type ResultSpec = Partial<Result> & { up: boolean }

let slotMs = Date.now() - 3_600_000

/** A result of the next slot: later calls return later slots, all in the past. */
export function createNextResult(monitorId: string, { up, ...rest }: ResultSpec): Result {
  slotMs += 1
  const failure = {
    outcome: Outcome.DOWN,
    statusCode: 500,
    error: { source: 1, code: 'status', message: 'status 500' },
  }
  return { ...createResult(monitorId, slotMs, { totalUs: 12_345, ...(!up && failure) }), ...rest }
}

/** Publishes results as a probe of a region would, one message a partition; resolves when JetStream has them. */
export async function publish(nats: Nats, results: Result[], region = 'us-east', probeId = 'probe-1'): Promise<void> {
  const byPartition = new Map<number, Result[]>()
  for (const result of results) {
    const partition = computePartition(result.monitorId)
    byPartition.set(partition, [...(byPartition.get(partition) ?? []), result])
  }
  for (const [partition, part] of byPartition) {
    const data = ResultBatch.encode({ probeId, region, results: part }).finish()
    await nats.js.publish(resultSubject(partition, region), data)
  }
}

/** Runs of up (`+`) and down (`-`) checks, one message each. */
export async function run(nats: Nats, monitorId: string, checks: string, rest: Partial<Result> = {}): Promise<void> {
  for (const check of checks) await publish(nats, [createNextResult(monitorId, { up: check === '+', ...rest })])
}

/** The engines of a test about the verdict, with connections past every fault, and a tenant. */
export async function startVerdictEngines(t: Teardown) {
  const { url } = await createDatabase(t)
  const server = await startNats(t)
  const db = createPostgres(url)
  const nats = await connectNats(server.url, 'test')
  await ensureStreams(nats.manager)
  t.teardown(async () => {
    await nats.close()
    await db.destroy()
  })
  const { projectId } = await insertTenant(db)
  await insertLiveProbes(db)
  /** Waits until a monitor has had these statuses, such as `up down up`. */
  const reaches = (id: string, statuses: string) =>
    waitFor(async () => (await readStatuses(db, id)) === statuses, { label: statuses })
  return { url, server, db, nats, projectId, reaches }
}

/** A process of the role verdict, with its own connections. */
export async function startVerdictProcess(t: Teardown, databaseUrl: string, natsUrl: string) {
  const db = createPostgres(databaseUrl)
  const nats = await connectNats(natsUrl, 'verdict')
  await ensureStreams(nats.manager)
  const metrics = createMetrics()
  const log = createLog('test', process.env.LOG_LEVEL ?? 'silent')
  const worker = await startVerdictWorker({
    db,
    nats,
    log,
    metrics,
    publicUrl: 'https://picket.example',
    storeCertificates: seen => storeCertificates(db, seen, new Date()),
  })
  let isStopped = false
  const stop = async () => {
    if (isStopped) return
    isStopped = true
    await worker.stop()
    await nats.close()
    await db.destroy()
  }
  /** like kill -9: nothing more is stored or released */
  const kill = async () => {
    isStopped = true
    await Promise.all([nats.close(), db.destroy()])
    await worker.stop().catch(() => {})
  }
  t.teardown(stop)
  const metric = async (name: string) => {
    const { text } = await metrics.render()
    const lines = text.split('\n').filter(line => line.startsWith(name) && !line.startsWith('#'))
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
  }
  return { metric, stop, kill }
}

type StoredTransition = { from: string | null; to: string | null; summary: string; quorum: string }

export function readTransitions(db: Db, monitorId: string): Promise<StoredTransition[]> {
  return query(
    db,
    `SELECT from_status AS "from", to_status AS "to", summary, quorum FROM transitions
     WHERE monitor_id = ? ORDER BY at, id`,
    [monitorId],
  )
}

/** The number of regions that vote. A verdict does not need all of them, so it can come before the last vote. */
export async function countVoters(db: Db, monitorId: string): Promise<number> {
  const [row] = await query<{ voters: number }>(
    db,
    `SELECT count(*) AS voters FROM verdict_states, jsonb_array_elements(state->'cells') AS cell
     WHERE monitor_id = ? AND cell->>'state' <> 'pending'`,
    [monitorId],
  )
  return row?.voters ?? 0
}

/** "up down up": the statuses that a monitor had. */
export async function readStatuses(db: Db, monitorId: string): Promise<string> {
  return (await readTransitions(db, monitorId)).map(({ to }) => to ?? 'null').join(' ')
}
