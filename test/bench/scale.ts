/**
 * One hundredth of a million monitors × six regions at 30 s: ten thousand monitors, six probes and 2,000 checks a second, end
 * to end for a minute. Measures CPU time, memory, bytes and rows of each part (docs/scale.md).
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from '@clickhouse/client'
import { query, withPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { REGIONS } from '../../shared/checks/check.ts'
import { RESULTS_STREAM } from '../../shared/nats/subjects.ts'
import { type Picket, startPicket } from '../support/picket.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { measureBareLoop } from './probe.ts'
import { compareWithKuma, connectBench, type Engines, type Figure, figure, readMetric, treeCpuUs } from './rig.ts'
import { seedMonitors } from './seed.ts'

const MONITORS = Number(process.env.SCALE_MONITORS ?? 10_000)
const INTERVAL_S = 30
const SECONDS = 60
/** Aim for the CPU time of a check over all processes. */
const MAX_US = 350
const DUE_A_SECOND = (MONITORS * REGIONS.length) / INTERVAL_S

export async function benchScale(t: Teardown, engines: Engines): Promise<Figure[]> {
  const target = fork(new URL('probe.ts', import.meta.url), ['serve'])
  t.teardown(() => target.kill())
  const [port] = await once(target, 'message')
  const url = `http://127.0.0.1:${port}/`
  const compare = await measureBareLoop(url, MONITORS / INTERVAL_S)
  const picket = await startPicket(t, { regions: [...REGIONS] })
  const nats = await connectBench(t, picket)
  await seedMonitors(picket.databaseUrl, MONITORS, { url, regions: [...REGIONS] })
  const counted = () => readMetric(picket.operator, 'picket_verdict_results_total{kind="counted"}')
  const first = async () => (await counted()) >= MONITORS * REGIONS.length
  await waitFor(first, { timeoutMs: 180_000, everyMs: 500, label: 'the first result of every monitor and region' })
  await pause(INTERVAL_S * 1_000)

  const parts = {
    'control plane': [picket.controlPlane.pid],
    probes: picket.probes.map(probe => probe.pid),
    NATS: [picket.nats.pid],
    ClickHouse: [engines.clickhouse],
    PostgreSQL: [engines.postgres],
  }
  const look = async () => ({
    atMs: Date.now(),
    cpuUs: Object.values(parts).map(pids => pids.reduce((sum, pid) => sum + treeCpuUs(pid), 0)),
    counted: await counted(),
    stream: (await nats.manager.streams.info(RESULTS_STREAM)).state,
    rows: await rowsWritten(picket),
  })
  const before = await look()
  await pause(SECONDS * 1_000)
  const after = await look()
  const seconds = (after.atMs - before.atMs) / 1_000
  const checks = after.counted - before.counted
  const each = after.cpuUs.map((us, i) => (us - before.cpuUs[i]!) / checks)
  const total = each.reduce((sum, us) => sum + us, 0)
  const messages = after.stream.messages - before.stream.messages
  await pause(5_000)
  const history = await readHistory(picket, before.atMs, after.atMs)
  const stored = await storedBytes(picket)
  const rssMb = (pids: number[]) => Math.max(...pids.map(residentMb))
  return [
    figure(
      `${MONITORS.toLocaleString('en')} monitors × ${REGIONS.length} regions at ${INTERVAL_S} s, end to end for ${SECONDS} s: results counted a second`,
      `${Math.round(checks / seconds).toLocaleString('en')} of ${Math.round(DUE_A_SECOND).toLocaleString('en')} due; ${history.missed} missed of ${history.rows} in the history`,
    ),
    figure('  start delay p50 / p99', `${history.p50} / ${history.p99} ms`),
    figure(
      '  CPU time a check',
      `${Math.round(total)} µs: ${Object.keys(parts)
        .map((name, i) => `${name} ${Math.round(each[i]!)}`)
        .join(', ')}; ${((total * checks) / seconds / 1e6).toFixed(2)} cores; ${compareWithKuma(total)}`,
      `≤ ${MAX_US} µs`,
      total <= MAX_US,
    ),
    compare(total),
    figure(
      '  JetStream',
      `${(messages / seconds).toFixed(0)} messages a second of ${(checks / messages).toFixed(1)} results, ${((after.stream.bytes - before.stream.bytes) / checks).toFixed(0)} B a result`,
    ),
    figure('  ClickHouse, merged', `${stored.history.toFixed(1)} B a row`),
    figure(
      '  PostgreSQL',
      `${stored.monitor.toFixed(0)} B a monitor with its state of ${REGIONS.length} regions; ${((after.rows - before.rows) / seconds).toFixed(1)} rows written a second`,
    ),
    figure(
      '  resident memory',
      Object.entries(parts)
        .map(([name, pids]) => `${name} ${rssMb(pids)}`)
        .join(', ')
        .concat(' MB (of probes the largest; engines without their children)'),
    ),
  ]
}

type History = { rows: number; missed: number; p50: number; p99: number }

async function readHistory(picket: Picket, fromMs: number, toMs: number): Promise<History> {
  const [row] = await ask<History>(
    picket,
    `SELECT toUInt32(count()) AS rows, toUInt32(countIf(status = 'missed')) AS missed,
       toInt32(quantileExact(0.5)(delay)) AS p50, toInt32(quantileExact(0.99)(delay)) AS p99
     FROM (SELECT status, toUnixTimestamp64Milli(started_at) - toUnixTimestamp64Milli(scheduled_at) AS delay FROM results
       WHERE scheduled_at >= fromUnixTimestamp64Milli(${fromMs}) AND scheduled_at < fromUnixTimestamp64Milli(${toMs}))`,
  )
  return row!
}

/** Bytes on disk: of a row of the history after its parts are merged, and of a monitor with indexes and state. */
async function storedBytes(picket: Picket): Promise<{ history: number; monitor: number }> {
  await ask(picket, 'OPTIMIZE TABLE results FINAL')
  const [parts] = await ask<{ bytes: number }>(
    picket,
    `SELECT sum(bytes_on_disk) / sum(rows) AS bytes FROM system.parts
     WHERE active AND table = 'results' AND database = currentDatabase()`,
  )
  const [row] = await withPostgres(picket.databaseUrl, db =>
    query<{ bytes: number }>(
      db,
      `SELECT pg_total_relation_size('monitors') + pg_total_relation_size('verdict_states') AS bytes`,
    ),
  )
  return { history: parts!.bytes, monitor: row!.bytes / MONITORS }
}

async function ask<Row>({ clickhouseUrl }: Picket, sql: string): Promise<Row[]> {
  const client = createClient({ url: clickhouseUrl })
  try {
    if (sql.startsWith('SELECT')) return await (await client.query({ query: sql, format: 'JSONEachRow' })).json<Row>()
    await client.command({ query: sql })
    return []
  } finally {
    await client.close()
  }
}

async function rowsWritten(picket: Picket): Promise<number> {
  const [row] = await withPostgres(picket.databaseUrl, db =>
    query<{ n: number }>(
      db,
      'SELECT tup_inserted + tup_updated + tup_deleted AS n FROM pg_stat_database WHERE datname = current_database()',
    ),
  )
  return row!.n
}

function residentMb(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_024)
}
