/**
 * Results a second from JetStream through the verdict into ClickHouse. A backlog of steady results of healthy monitors is
 * published while the control plane is stopped, and processed after its start. For comparison, a bare loop only decodes the
 * same messages and inserts them.
 */
import { createClient } from '@clickhouse/client'
import { Client } from 'pg'
import { createClickhouse, insertLines } from '../../control-plane/foundation/platform/clickhouse.ts'
import { createLineBuffer } from '../../control-plane/insight/analytics/recording/line-buffer.ts'
import {
  encodeOrigin,
  RESULT_LINE_COLUMNS,
  toResultLine,
} from '../../control-plane/insight/analytics/recording/result-line.ts'
import { ResultBatch } from '../../shared/checks/result.ts'
import { startPicket } from '../support/picket.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import {
  connectBench,
  createMonitors,
  encodeBatches,
  type Figure,
  figure,
  publishAll,
  REGIONS,
  readMetric,
} from './rig.ts'

const MONITORS = 4_000
const SLOTS = 60
const RESULTS_A_MESSAGE = 100
const TOTAL = MONITORS * SLOTS * REGIONS.length

export async function benchIngest(t: Teardown): Promise<Figure[]> {
  const picket = await startPicket(t, { regions: [] })
  const ids = await createMonitors(picket.api, MONITORS)
  const nats = await connectBench(t, picket)
  const startMs = Date.now() - SLOTS * 1_000
  const slot = (number: number) =>
    REGIONS.flatMap(region =>
      encodeBatches(
        ids.map(monitorId => ({ monitorId, scheduledAtMs: startMs + number * 1_000, up: true })),
        region,
        RESULTS_A_MESSAGE,
      ),
    )
  const read = () => readMetric(picket.operator, 'picket_verdict_results_total{kind="counted"}')
  // the first results of a monitor write its state, so the measurement begins after them
  await publishAll(nats, slot(0))
  await waitFor(async () => (await read()) === MONITORS * REGIONS.length, { timeoutMs: 30_000 })
  await picket.controlPlane.stop()

  const messages = Array.from({ length: SLOTS }, (_, i) => slot(i + 1)).flat()
  await publishAll(nats, messages)
  const writesBefore = await rowsWritten(picket.databaseUrl)
  await picket.restartControlPlane()
  const started = performance.now()
  const verdictMs = await reached(started, async () => (await read()) >= TOTAL)
  const historyMs = await reached(started, async () => (await recorded(picket.clickhouseUrl)) >= TOTAL)
  await picket.controlPlane.stop()
  // its connections have reported their counts when they end
  const writes = (await rowsWritten(picket.databaseUrl)) - writesBefore
  const bareMs = await bareLoop(
    messages.map(message => message.data),
    picket.clickhouseUrl,
  )

  const rate = (ms: number) => Math.round(TOTAL / (ms / 1_000))
  const seconds = Math.max(verdictMs, historyMs)
  return [
    figure(
      `results a second, JetStream → verdict → ClickHouse (${TOTAL.toLocaleString('en')} in batches of ${RESULTS_A_MESSAGE})`,
      `${rate(seconds).toLocaleString('en')} (verdict alone done at ${rate(verdictMs).toLocaleString('en')})`,
      '≥ 50,000',
      rate(seconds) >= 50_000,
    ),
    figure('the same messages: a bare loop that decodes and inserts', `${rate(bareMs).toLocaleString('en')}`),
    figure('  of which the whole chain reaches', `${(bareMs / seconds).toFixed(2)}`),
    figure(
      `rows written to PostgreSQL for those steady results`,
      `${writes} (positions, checkpoints and leases of 16 partitions)`,
      'none a monitor',
      writes < MONITORS / 10,
    ),
  ]
}

async function reached(started: number, condition: () => Promise<boolean>): Promise<number> {
  await waitFor(condition, { timeoutMs: 180_000, everyMs: 50, label: 'the end of the backlog' })
  return performance.now() - started
}

async function recorded(url: string): Promise<number> {
  const client = createClient({ url })
  const answer = await client.query({
    query:
      "SELECT sum(rows) AS n FROM system.parts WHERE active AND table = 'results' AND database = currentDatabase()",
    format: 'JSONEachRow',
  })
  const [row] = await answer.json<{ n: string }>()
  await client.close()
  return Number(row?.n ?? 0)
}

/** Rows of tables. A checkpoint is one row, whose parts in the TOAST table do not count. */
async function rowsWritten(url: string): Promise<number> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query('SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) AS n FROM pg_stat_user_tables')
  await client.end()
  return Number(rows[0].n)
}

async function bareLoop(messages: Uint8Array[], url: string): Promise<number> {
  const clickhouse = createClickhouse(url)
  await clickhouse.command({ query: 'CREATE TABLE bare AS results' })
  const started = performance.now()
  for (let i = 0; i < messages.length; i += 500) {
    const lines = createLineBuffer()
    for (const data of messages.slice(i, i + 500)) {
      const batch = ResultBatch.decode(data)
      const origin = encodeOrigin(batch)
      for (const result of batch.results)
        lines.add(toResultLine(result, origin, { takenAtMs: result.startedAtMs, sequence: 1, isLate: false }))
    }
    await insertLines(clickhouse, `bare (${RESULT_LINE_COLUMNS})`, lines.slice(0, lines.count()))
  }
  const ms = performance.now() - started
  await clickhouse.close()
  return ms
}
