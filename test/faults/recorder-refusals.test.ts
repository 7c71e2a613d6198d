import t, { type Test } from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { migrateClickhouse } from '../../control-plane/foundation/migrations/clickhouse/index.ts'
import { createClickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import { connectNats, ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { listChecks } from '../../control-plane/insight/analytics/history-store.ts'
import { startRecorder } from '../../control-plane/insight/analytics/recording/recorder.ts'
import { type Result, ResultBatch } from '../../shared/checks/result.ts'
import { computePartition, RESULTS_STREAM, resultSubject } from '../../shared/nats/subjects.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics, type Metrics } from '../../shared/process/metrics.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { createResult } from '../support/results.ts'
import { waitFor } from '../support/wait.ts'

// takes about 35 s

const { url } = await createClickhouseDatabase(t)
const server = await startNats(t)
await migrateClickhouse(url)
const clickhouse = createClickhouse(url)
const db = createPostgres((await createDatabase(t)).url)
const nats = await connectNats(server.url, 'test')
await ensureStreams(nats.manager)
t.teardown(async () => {
  await nats.close()
  await clickhouse.close()
  await db.destroy()
})
const DAY_MS = 24 * 3_600_000
const nowMs = Date.now()

function startRecording(t: Test): Metrics {
  const metrics = createMetrics()
  const recorder = startRecorder({ db, nats, clickhouse, log: createLog('test', 'silent'), metrics })
  t.teardown(() => recorder.stop())
  return metrics
}

const result = (monitorId: string, scheduledAtMs: number, changes: Partial<Result> = {}) =>
  createResult(monitorId, scheduledAtMs, { resolvedIp: '', ...changes })

async function publish(results: Result[]) {
  const bytes = ResultBatch.encode({ probeId: 'probe-1', region: 'eu-west', results }).finish()
  await nats.js.publish(resultSubject(computePartition(results[0]!.monitorId), 'eu-west'), bytes)
}

const consumer = () => nats.manager.consumers.info(RESULTS_STREAM, 'record')
const patient = { timeoutMs: 120_000 }

async function recorded(monitorId: string, total: number) {
  const everything = { regions: null, statuses: null, fromMs: 0, toMs: null }
  const count = async () => (await listChecks(clickhouse, monitorId, everything, { limit: 1, offset: 0 })).total
  await waitFor(async () => (await count()) === total, { ...patient, label: `${total} checks in the history` })
}

/** All messages are acknowledged, so none is delivered again. */
async function settled() {
  const isSettled = async () => {
    const { num_ack_pending, num_pending } = await consumer()
    return num_ack_pending === 0 && num_pending === 0
  }
  await waitFor(isSettled, { ...patient, label: 'every message acknowledged' })
}

/** The number of results that were set aside, by reason. */
async function setAside(metrics: Metrics): Promise<Record<string, number>> {
  const { text } = await metrics.render()
  const lines = text.matchAll(/^picket_results_unrecordable_total\{reason="(\w+)"\} ([1-9]\d*)$/gm)
  return Object.fromEntries([...lines].map(([, reason, count]) => [reason, Number(count)]))
}

t.test('Results of more than a hundred weeks in one message do not block others', async t => {
  const [bad, good] = [uuidv7(), uuidv7()]
  const weeks = Array.from({ length: 150 }, (_, i) => result(bad, nowMs - i * 7 * DAY_MS))
  const absurd = [0, 86_400_000, Date.UTC(2299, 0, 1), nowMs + 3 * 3_600_000].map(ms => result(bad, ms))
  await publish([...weeks, ...absurd])
  for (let i = 0; i < 12; i++) await publish([result(good, nowMs - i * 1_000)])
  await nats.js.publish(resultSubject(0, 'eu-west'), Buffer.from('not protobuf \xff\xff\xff'))
  const metrics = startRecording(t)
  await recorded(good, 12)
  await recorded(bad, 13)
  await settled()
  t.same(await setAside(metrics), { too_old: 139, in_future: 2, unreadable: 1 })
  t.equal((await consumer()).delivered.consumer_seq, 14, 'each message was delivered once')
})

t.test('A result that is rejected for an unknown reason is set aside, and its neighbours are stored', async t => {
  const [bad, good] = [uuidv7(), uuidv7()]
  const before = (await consumer()).delivered.consumer_seq
  await clickhouse.command({ query: `ALTER TABLE results ADD CONSTRAINT refuses CHECK resolved_ip != 'refused'` })
  const mixed = Array.from({ length: 20 }, (_, i) => {
    return result(bad, nowMs - i * 1_000, { resolvedIp: i === 7 ? 'refused' : '192.0.2.1' })
  })
  await publish(mixed)
  await publish([result(good, nowMs)])
  const metrics = startRecording(t)
  await recorded(good, 1)
  await recorded(bad, 19)
  await settled()
  t.same(await setAside(metrics), { refused: 1 })
  t.equal((await consumer()).delivered.consumer_seq - before, 2 + 3, 'three more attempts, then none')
  await clickhouse.command({ query: 'ALTER TABLE results DROP CONSTRAINT refuses' })
})

t.test('While ClickHouse rejects everything, nothing is set aside, and all results are recorded later', async t => {
  const ids = Array.from({ length: 5 }, () => uuidv7())
  await clickhouse.command({ query: `ALTER TABLE results ADD CONSTRAINT refuses CHECK status_code = 0` })
  const before = (await consumer()).delivered.consumer_seq
  const metrics = startRecording(t)
  for (const id of ids) await publish([result(id, nowMs)])
  const tries = async () => (await consumer()).delivered.consumer_seq - before
  await waitFor(async () => (await tries()) > 15, { ...patient, label: 'three attempts of each message' })
  t.same(await setAside(metrics), {})
  await clickhouse.command({ query: 'ALTER TABLE results DROP CONSTRAINT refuses' })
  for (const id of ids) await recorded(id, 1)
  await settled()
})
