import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { migrateClickhouse } from '../../control-plane/foundation/migrations/clickhouse/index.ts'
import { createClickhouse, select } from '../../control-plane/foundation/platform/clickhouse.ts'
import { connectNats, ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createLastCheckedReader } from '../../control-plane/insight/analytics/checks/last-checked-reader.ts'
import { listChecks, loadLastCheckedAt } from '../../control-plane/insight/analytics/history-store.ts'
import { startRecorder } from '../../control-plane/insight/analytics/recording/recorder.ts'
import { toResult } from '../../control-plane/insight/analytics/result-row.ts'
import { DATA_SOURCE_REGION } from '../../control-plane/monitoring/monitors/types.ts'
import { FailureSource, Outcome, type Result, ResultBatch, Trigger } from '../../shared/checks/result.ts'
import {
  computePartition,
  lateSubject,
  RESULTS_STREAM,
  resultSubject,
  witnessSubject,
} from '../../shared/nats/subjects.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { startRawServer } from '../support/raw-server.ts'
import { createResult } from '../support/results.ts'
import { waitFor } from '../support/wait.ts'

// takes about 30 s

const { url } = await createClickhouseDatabase(t)
const server = await startNats(t)
await Promise.all([migrateClickhouse(url), migrateClickhouse(url)])
const clickhouse = createClickhouse(url)
const db = createPostgres((await createDatabase(t)).url)
const nats = await connectNats(server.url, 'test')
await ensureStreams(nats.manager)
t.teardown(async () => {
  await nats.close()
  await clickhouse.close()
  await db.destroy()
})
const log = createLog('test', 'silent')
const everything = { regions: null, statuses: null, fromMs: 0, toMs: null }

function startRecording(t: Test, target = clickhouse) {
  const recorder = startRecorder({ db, nats, clickhouse: target, log, metrics: createMetrics() })
  t.teardown(() => recorder.stop())
  return recorder
}

const HOUR_MS = 3_600_000
/** An hour ago: after two hours a check is too old for last_checked_at. */
const startMs = Date.now() - HOUR_MS

const result = (monitorId: string, number: number, changes: Partial<Result> = {}) =>
  createResult(monitorId, startMs + number * 1_000, {
    startedAtMs: startMs + number * 1_000 + 3,
    totalUs: (number + 1) * 1_000,
    timings: { dnsUs: 1, connectUs: 2, tlsUs: 3, firstByteUs: 4, transferUs: 5 },
    ...changes,
  })

async function publish(results: Result[], region = 'eu-west', late = false) {
  const bytes = ResultBatch.encode({ probeId: 'probe-1', region, results }).finish()
  const subject = (late ? lateSubject : resultSubject)(computePartition(results[0]!.monitorId), region)
  return nats.js.publish(subject, bytes)
}

/** The sequences of the messages that a consumer deferred for two seconds. */
function deferredBy(t: Test, consumer: string): Set<number> {
  const deferred = new Set<number>()
  const acks = nats.connection.subscribe(`$JS.ACK.${RESULTS_STREAM}.${consumer}.>`, {
    callback: (_, message) => {
      if (message.string() === '-NAK {"delay":2000000000}') deferred.add(Number(message.subject.split('.')[5]))
    },
  })
  t.teardown(() => acks.unsubscribe())
  return deferred
}

const count = (monitorId: string) => listChecks(clickhouse, monitorId, everything, { limit: 1, offset: 0 })
const recorded = (monitorId: string, total: number) =>
  waitFor(async () => (await count(monitorId)).total === total, { label: `${total} checks in the history` })

t.test('Every result is stored once, however often its batch is delivered', async t => {
  const id = uuidv7()
  const results = Array.from({ length: 50 }, (_, i) => result(id, i))
  await publish(results)
  startRecording(t)
  await recorded(id, 50)
  await publish(results)
  await publish(results, 'eu-west', true)
  await publish([result(id, 50)])
  await recorded(id, 51)
  await waitFor(async () => {
    const [row] = await select<{ n: string }>(
      clickhouse,
      'SELECT count() AS n FROM results WHERE monitor_id = {id:UUID}',
      { id },
    )
    return Number(row?.n) >= 51
  })
  t.equal((await count(id)).total, 51)
})

t.test('A check by a witness is not stored as a check of the monitor', async t => {
  const id = uuidv7()
  startRecording(t)
  const witnessed = result(id, 1, { trigger: Trigger.WITNESS })
  const batch = { probeId: 'probe-1', region: 'eu-west', results: [], witnessed }
  await nats.js.publish(witnessSubject(computePartition(id)), ResultBatch.encode(batch).finish())
  await publish([result(id, 2)])
  await recorded(id, 1)
  await publish([result(id, 3)])
  await recorded(id, 2)
})

t.test('A check is read back with the source of its failure', async t => {
  const id = uuidv7()
  const error = { source: FailureSource.TARGET, code: 'timeout', message: 'no answer: "quoted" \n and Zürich' }
  const failed = { type: 'status_code', operator: 'equals', value: '200', actual: '500' }
  startRecording(t)
  const sent = result(id, 7, { outcome: Outcome.DOWN, error, failedAssertions: [failed], statusCode: 0, attempt: 2 })
  await publish([sent])
  await recorded(id, 1)
  const { rows } = await listChecks(clickhouse, id, everything, { limit: 10, offset: 0 })
  t.match(rows[0], { region: 'eu-west', probe_id: 'probe-1' })
  t.same(toResult(rows[0]!), sent)
})

t.test('Evidence, certificate, ping, dns and screenshot of a check are read back unchanged', async t => {
  const id = uuidv7()
  const certificate = {
    subject: 'CN=shop.example.com',
    issuer: 'CN="An authority", O=Zürich',
    validFromMs: startMs - HOUR_MS,
    validToMs: startMs + HOUR_MS,
    names: ['shop.example.com', '*.shop.example.com'],
    fingerprint: 'ab'.repeat(32),
  }
  const sent = result(id, 1, {
    outcome: Outcome.DOWN,
    evidence: {
      headers: { 'content-type': 'text/html', 'x-quoted': 'a "b" \\ \t' },
      body: Buffer.from([0, 1, 0xff, 0x22, 0x5c, 0x0a, 0xc3, 0xa9]),
      chain: [certificate, { ...certificate, names: [] }],
    },
    certificate,
    ping: { sent: 3, received: 2, rttMinUs: 100, rttAvgUs: 200, rttMaxUs: 300 },
    dns: { rcode: 'NOERROR', server: '192.0.2.53', records: [{ type: 'TXT', name: 'a', ttlS: 60, value: '"v=1"' }] },
    screenshotId: 'a screenshot',
  })
  startRecording(t)
  await publish([sent, result(id, 2)])
  await recorded(id, 2)
  const { rows } = await listChecks(clickhouse, id, everything, { limit: 10, offset: 0 })
  t.same(rows.map(toResult), [result(id, 2), sent])
})

t.test('An invalid message and an invalid result do not affect their neighbours', async t => {
  const id = uuidv7()
  startRecording(t)
  await nats.js.publish(resultSubject(0, 'eu-west'), Buffer.from('not protobuf \xff\xff\xff'))
  await publish([result('not-a-uuid', 1), result(id, 1), result(id, 2, { scheduledAtMs: -5 })])
  await recorded(id, 1)
})

t.test('While ClickHouse is unreachable, no result is lost, and all are stored later', async t => {
  const id = uuidv7()
  const away = createClickhouse('http://127.0.0.1:1/x')
  t.teardown(() => away.close())
  const broken = startRecording(t, away)
  await publish([result(id, 1), result(id, 2)])
  await publish([result(id, 3)])
  await broken.stop()
  startRecording(t)
  await recorded(id, 3)
})

t.test('Messages that arrive when ClickHouse fails wait no longer than those that could not be written', async t => {
  const id = uuidv7()
  const open: Socket[] = []
  let isAway = false
  const port = await startRawServer(t, socket => void (isAway ? socket.destroy() : open.push(socket)))
  const going = createClickhouse(`http://127.0.0.1:${port}/x`)
  t.teardown(() => going.close())
  const deferred = deferredBy(t, 'record')
  const broken = startRecording(t, going)
  const first = await publish([result(id, 1)])
  await waitFor(() => open.length > 0, { label: 'a batch on its way' })
  const second = await publish([result(id, 2)])
  const isFetched = async () => (await nats.manager.consumers.info(RESULTS_STREAM, 'record')).num_pending === 0
  await waitFor(isFetched, { label: 'the next batch' })
  isAway = true
  for (const socket of open) socket.destroy()
  await waitFor(() => deferred.has(first.seq) && deferred.has(second.seq), {
    label: 'both to be deferred for two seconds',
  })
  await broken.stop()
  startRecording(t)
  await recorded(id, 2)
})

t.test('Values of data sources are recorded, and do not count as late results of a region', async t => {
  const [value, late] = [uuidv7(), uuidv7()]
  const metrics = createMetrics()
  const recorder = startRecorder({ db, nats, clickhouse, log, metrics })
  t.teardown(() => recorder.stop())
  await publish([result(value, 1)], DATA_SOURCE_REGION, true)
  await publish([result(late, 1), result(late, 2)], 'eu-west', true)
  await recorded(value, 1)
  await recorded(late, 2)
  const isCounted = async () => /picket_results_late_total\{region="eu-west"\} 2/.test((await metrics.render()).text)
  await waitFor(isCounted, { label: 'the late results of the region' })
  t.notMatch((await metrics.render()).text, new RegExp(`late_total.*${DATA_SOURCE_REGION}`))
})

t.test('The last check of many monitors is read in one query', async t => {
  const id = uuidv7()
  startRecording(t)
  await publish([result(id, 10), result(id, 20)])
  await recorded(id, 2)
  const times = await loadLastCheckedAt(clickhouse, [id, uuidv7()])
  t.same([...times], [[id, new Date(startMs + 20_003)]])
})

t.test('Concurrent lists all have the last check of their monitors', async t => {
  const ids = Array.from({ length: 300 }, () => uuidv7())
  const checked = ids.filter((_, i) => i % 50 === 0)
  startRecording(t)
  await publish(checked.map((id, i) => result(id, i)))
  await Promise.all(checked.map(id => recorded(id, 1)))
  // also on a busy machine
  const lastChecked = createLastCheckedReader({ clickhouse, db }, 30_000)
  const lists = Array.from({ length: 30 }, (_, i) => ids.slice(i * 10, i * 10 + 10))
  const answers = await Promise.all(
    lists.map(list =>
      lastChecked(
        uuidv7(),
        list.map(id => ({ id, type: 'http' })),
      ),
    ),
  )
  t.same(
    answers.flatMap(times => [...times]),
    checked.map((id, i) => [id, new Date(startMs + i * 1_000 + 3)]),
  )
})
