/**
 * A year of a thousand monitors that fail once a day. One real outage with its recovery is copied with other ids and times,
 * month by month back from today. Expired rows are deleted after each month, as the role schedule does every hour. Measures
 * the size of PostgreSQL, and the time of frequent reads with 90 days and with the year.
 */
import { createPostgres, type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createRetentionPass } from '../../control-plane/operations/retention/actions.ts'
import { readRetentionSettings } from '../../control-plane/operations/retention/settings.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { type Picket, startPicket } from '../support/picket.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import {
  connectBench,
  createMonitors,
  encodeBatches,
  type Figure,
  figure,
  percentile,
  publishAll,
  REGIONS,
} from './rig.ts'

const MONITORS = 1_000
const DAYS = 365
const DAYS_A_MONTH = 30
/** the period that status pages show, so that both measurements show the same */
const SHOWN_DAYS = 90
const COMPONENTS = 50
const READS = 20
const PAGES = 5
const GB = 1e9

export async function benchYear(t: Teardown): Promise<Figure[]> {
  const picket = await startPicket(t, { regions: [] })
  const ids = await createMonitors(picket.api, MONITORS, { retry_count: 1 })
  await causeOutage(t, picket, ids[0]!)
  const db = createPostgres(picket.databaseUrl, 2)
  t.teardown(() => db.destroy())
  await waitFor(async () => (await query(db, `SELECT FROM deliveries WHERE status = 'delivered'`)).length === 2)
  await keepTemplates(db, ids[0]!)
  const pass = createRetentionPass({ db, retention: readRetentionSettings({}), metrics: createMetrics() })

  let first: ReadTimes | null = null
  let deletedS = 0
  for (let last = 0; last < DAYS; last += DAYS_A_MONTH) {
    await copyOutages(db, last, Math.min(DAYS_A_MONTH, DAYS - last))
    const startedMs = performance.now()
    await pass(new AbortController().signal)
    deletedS += (performance.now() - startedMs) / 1_000
    // autovacuum does the same within a minute
    await db.raw('VACUUM ANALYZE')
    if (last + DAYS_A_MONTH === SHOWN_DAYS) first = await measureReads(picket, ids, 'first')
  }
  const after = await measureReads(picket, ids, 'after')
  const [size] = await query<{ bytes: number }>(db, 'SELECT pg_database_size(current_database()) AS bytes')
  const row = (what: string, of: keyof ReadTimes) =>
    figure(
      `  ${what}, p50 with 90 days / with the year`,
      `${first![of].toFixed(0)} / ${after[of].toFixed(0)} ms`,
      'first speed',
      after[of] <= Math.max(1.5 * first![of], first![of] + 10),
    )
  return [
    figure(
      `a year of ${MONITORS.toLocaleString('en')} monitors that fail once a day, one webhook: PostgreSQL with retention (${await largest(db)})`,
      `${(size!.bytes / GB).toFixed(2)} GB; deleting took ${deletedS.toFixed(0)} s of the year`,
      '< 2 GB',
      size!.bytes < 2 * GB,
    ),
    row('`GET /incidents`', 'incidents'),
    row('`GET /alerts/log`', 'log'),
    row(`status page of ${COMPONENTS} components, first answer`, 'page'),
  ]
}

/** Causes a real outage and recovery of a monitor in all regions. A webhook receives both. */
async function causeOutage(t: Teardown, picket: Picket, monitorId: string): Promise<void> {
  const receiver = await startReceiver(t)
  const channel = { name: 'Hook', type: 'webhook', config: { url: receiver.url } }
  const { body } = await picket.api.post('/alerts/channels', channel)
  await picket.api.post('/alerts/rules', { monitor_id: monitorId, alert_channel_id: body.data.id })
  const nats = await connectBench(t, picket)
  const send = (up: boolean, attempt = 1) => {
    const shots = [{ monitorId, scheduledAtMs: Date.now(), attempt, up }]
    return publishAll(
      nats,
      REGIONS.flatMap(region => encodeBatches(shots, region, 100)),
    )
  }
  // results count after the verdict has read the live sets
  const isUp = async () => {
    await send(true)
    return (await picket.api.get(`/monitors/${monitorId}`)).body.data.status === 'up'
  }
  await waitFor(isUp, { everyMs: 500, label: 'the first verdict' })
  await send(false)
  await send(false, 2)
  await waitFor(() => receiver.received.length === 1, { label: 'the webhook of the outage' })
  await waitFor(async () => {
    await send(true)
    return receiver.received.length === 2
  })
}

/** Copies the rows of that outage into templates. `later`: the time since its beginning. */
async function keepTemplates(db: Db, monitorId: string): Promise<void> {
  const began = `(SELECT at FROM transitions WHERE monitor_id = '${monitorId}' AND to_status = 'down')`
  await db.raw(`
    CREATE TABLE template_transitions AS SELECT *, at - ${began} AS later FROM transitions
      WHERE monitor_id = '${monitorId}' AND from_status IS NOT NULL;
    CREATE TABLE template_incidents AS SELECT * FROM incidents WHERE cause_monitor_id = '${monitorId}';
    CREATE TABLE template_updates AS SELECT * FROM incident_updates;
    CREATE TABLE template_events AS SELECT *, occurred_at - ${began} AS later FROM events;
    CREATE TABLE template_deliveries AS SELECT * FROM deliveries`)
}

/** Inserts one outage of each monitor per day, `last` days ago and earlier. */
async function copyOutages(db: Db, last: number, days: number): Promise<void> {
  await db.transaction(async tx => {
    await execute(
      tx,
      `CREATE TEMPORARY TABLE outages ON COMMIT DROP AS
       SELECT monitor_id, project_id, at, uuidv7(at - now()) AS incident_id FROM (
         SELECT m.id AS monitor_id, m.project_id, now() - make_interval(days => :last + n, secs => 3600 + random() * 80000) AS at
         FROM monitors m, generate_series(0, :days - 1) n ORDER BY at) AS outage`,
      { last, days },
    )
    await tx.raw(`
      INSERT INTO transitions (id, project_id, monitor_id, from_status, to_status, at, quorum, summary, explanation, created_at)
      SELECT uuidv7(o.at + t.later - now()), o.project_id, o.monitor_id, t.from_status, t.to_status, o.at + t.later,
        t.quorum, t.summary, t.explanation, o.at + t.later
      FROM outages o, template_transitions t;
      INSERT INTO incidents (id, project_id, title, severity, status, source, cause_monitor_id, started_at, resolved_at,
        created_at, updated_at)
      SELECT o.incident_id, o.project_id, t.title, t.severity, t.status, t.source, o.monitor_id, o.at,
        o.at + interval '17 minutes', o.at, o.at FROM outages o, template_incidents t;
      INSERT INTO incident_monitors (incident_id, monitor_id) SELECT incident_id, monitor_id FROM outages;
      INSERT INTO incident_updates (id, incident_id, status, message, is_internal, created_at)
      SELECT uuidv7(o.at - now()), o.incident_id, t.status, t.message, t.is_internal, o.at
      FROM outages o, template_updates t;
      CREATE TEMPORARY TABLE outage_events ON COMMIT DROP AS
      SELECT o.*, e.id AS template_id, o.at + e.later AS event_at, uuidv7(o.at + e.later - now()) AS id
      FROM outages o, template_events e;
      INSERT INTO events (id, project_id, name, subject, data, occurred_at)
      SELECT o.id, o.project_id, e.name, 'monitor:' || o.monitor_id, e.data, o.event_at
      FROM outage_events o JOIN template_events e ON e.id = o.template_id;
      INSERT INTO deliveries (id, project_id, channel_id, event_id, event_name, subject, status, attempts, request_url,
        request_headers, request_body, created_at, updated_at)
      SELECT 'whd_' || replace(uuidv7(o.event_at - now())::text, '-', ''), o.project_id, d.channel_id, o.id, d.event_name,
        'monitor:' || o.monitor_id, d.status, d.attempts, d.request_url, d.request_headers, d.request_body, o.event_at, o.event_at
      FROM outage_events o JOIN template_deliveries d ON d.event_id = o.template_id`)
  })
}

/** in ms */
type ReadTimes = { incidents: number; log: number; page: number }

async function measureReads({ api, origin }: Picket, monitors: string[], name: string): Promise<ReadTimes> {
  const median = async (work: (index: number) => Promise<unknown>, times: number) => {
    const lengths: number[] = []
    for (let i = 0; i < times; i++) {
      const startedMs = performance.now()
      await work(i)
      lengths.push(performance.now() - startedMs)
    }
    return percentile(lengths.slice(1), 0.5)
  }
  const slugs = Array.from({ length: PAGES }, (_, i) => `year-${name}-${i}`)
  for (const slug of slugs) {
    const { body } = await api.post('/status-pages', { name: 'Acme', slug })
    const path = `/status-pages/${body.data.id}`
    await api.put(path, { is_published: true })
    for (const monitor_id of monitors.slice(0, COMPONENTS)) {
      await api.post(`${path}/components`, { name: 'Shop', monitor_id })
    }
  }
  return {
    incidents: await median(() => api.get('/incidents'), READS),
    log: await median(() => api.get('/alerts/log'), READS),
    page: await median(async i => (await fetch(`${origin}/status/${slugs[i]}`)).text(), PAGES),
  }
}

/** The largest tables with their indexes. */
async function largest(db: Db): Promise<string> {
  const rows = await query<{ name: string; bytes: number }>(
    db,
    `SELECT relname AS name, pg_total_relation_size(oid) AS bytes FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY bytes DESC LIMIT 4`,
  )
  return rows.map(({ name, bytes }) => `${name} ${(bytes / GB).toFixed(2)}`).join(', ')
}
