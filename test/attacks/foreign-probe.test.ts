import { randomBytes, randomUUID } from 'node:crypto'
import { PNG } from 'pngjs'
import t from 'tap'
import { migrateClickhouse } from '../../control-plane/foundation/migrations/clickhouse/index.ts'
import { createClickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createNatsObjectStore } from '../../control-plane/foundation/platform/object-storage/nats-bucket.ts'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { listChecks } from '../../control-plane/insight/analytics/history-store.ts'
import { startRecorder } from '../../control-plane/insight/analytics/recording/recorder.ts'
import { createPermit } from '../../control-plane/monitoring/screenshots/intake/permit.ts'
import { startScreenshotRecorder } from '../../control-plane/monitoring/screenshots/intake/recorder.ts'
import { type ListedScreenshot, listScreenshots } from '../../control-plane/monitoring/screenshots/store.ts'
import { readHealthFacts } from '../../control-plane/operations/health/facts-reader.ts'
import { assessHealth } from '../../control-plane/operations/health/findings/all-findings.ts'
import { Screenshot, ScreenshotKind, type ScreenshotOrder } from '../../proto/gen/probe/v1/screenshot.ts'
import { type Result, ResultBatch } from '../../shared/checks/result.ts'
import {
  computePartition,
  lateSubject,
  RESULTS_STREAM,
  resultSubject,
  SCREENSHOTS_STREAM,
  screenshotSubject,
} from '../../shared/nats/subjects.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createNextResult, insertMonitor, publish, startVerdictEngines } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

// takes about 20 s

const { url: clickhouseUrl } = await createClickhouseDatabase(t)
await migrateClickhouse(clickhouseUrl)
const clickhouse = createClickhouse(clickhouseUrl)
t.teardown(() => clickhouse.close())
const { db, nats, projectId } = await startVerdictEngines(t)
const secrets = createSecretCipher(randomBytes(32))
const objects = createNatsObjectStore(nats, 'SCREENSHOTS')
const metrics = createMetrics()
const tools = { db, nats, clickhouse, objects, secrets, metrics, log: createLog('test', 'silent') }
const recorder = startRecorder(tools)
const screenshots = startScreenshotRecorder(tools)
t.teardown(() => Promise.all([recorder.stop(), screenshots.stop()]))

const everything = { regions: null, statuses: null, fromMs: 0, toMs: null }
const readChecks = async (id: string) =>
  (await listChecks(clickhouse, id, everything, { limit: 50, offset: 0 })).rows.map(
    row => `${row.region} ${row.outcome}`,
  )
const isEmpty = async (stream: string, durable: string) => {
  const { num_pending, num_ack_pending } = await nats.manager.consumers.info(stream, durable)
  return num_pending === 0 && num_ack_pending === 0
}
const allRecorded = () => waitFor(() => isEmpty(RESULTS_STREAM, 'record'), { label: 'all results to be handled' })

async function counted(name: string): Promise<number> {
  const { text } = await metrics.render()
  const line = text.split('\n').find(one => one.startsWith(name))
  return Number(line?.split(' ').at(-1))
}
const refused = (region: string, what: string) =>
  counted(`picket_foreign_reports_total{region="${region}",what="${what}"}`)
const setAside = async (reason: string) => (await counted(`picket_results_unrecordable_total{reason="${reason}"}`)) || 0

async function publishAs(region: string, claimed: string, results: Result[], late = false) {
  const data = ResultBatch.encode({ probeId: randomUUID(), region: claimed, results }).finish()
  await nats.js.publish((late ? lateSubject : resultSubject)(computePartition(results[0]!.monitorId), region), data)
}

t.test('A probe cannot write the history of a monitor that its region does not check', async t => {
  const id = await insertMonitor(db, projectId, { regions: ['eu-west'] })
  const before = await refused('us-east', 'result')
  await publish(nats, [createNextResult(id, { up: true })], 'eu-west')
  await publishAs('us-east', 'us-east', [createNextResult(id, { up: false }), createNextResult(id, { up: false })])
  // the subject is the probe's own, but the message names another region
  await publishAs('us-east', 'eu-west', [createNextResult(id, { up: false })])
  await publishAs('us-east', 'us-east', [createNextResult(id, { up: false, configVersion: 99 })])
  await allRecorded()
  t.same(await readChecks(id), ['eu-west 0'])
  t.equal(await refused('us-east', 'result'), before + 4)
  await publishAs('us-east', 'us-east', [createNextResult(id, { up: false })], true)
  await waitFor(async () => (await refused('us-east', 'result')) === before + 5, {
    label: 'the late one to be refused',
  })
  t.same(await readChecks(id), ['eu-west 0'])
})

t.test('A new region of a monitor counts immediately, and a removed one keeps its history', async t => {
  const id = await insertMonitor(db, projectId, { regions: ['eu-west', 'us-east'] })
  await publish(nats, [createNextResult(id, { up: true })], 'us-east')
  await allRecorded()
  const change = (regions: string[]) =>
    execute(db, 'UPDATE monitors SET regions = ?, config_version = config_version + 1 WHERE id = ?', [regions, id])
  const before = await refused('us-east', 'result')
  await change(['eu-west', 'us-west'])
  await publish(nats, [createNextResult(id, { up: true })], 'us-west')
  // spooled on the probe's disk while the region was one of the monitor's
  await publish(nats, [createNextResult(id, { up: true })], 'us-east')
  const laterMs = Date.now() + 600_000
  await publish(nats, [createNextResult(id, { up: false, scheduledAtMs: laterMs, startedAtMs: laterMs })], 'us-east')
  await allRecorded()
  t.same((await readChecks(id)).sort(), ['us-east 0', 'us-east 0', 'us-west 0'])
  t.equal(
    await refused('us-east', 'result'),
    before,
    'a probe that does not know of the change yet does not count as an attacker',
  )
})

t.test('A region removed more than a week ago cannot change the history', async t => {
  const leftDaysAgo = async (days: number) => {
    const id = await insertMonitor(db, projectId, { regions: ['eu-west'] })
    const leftAtMs = Date.now() - days * 24 * 3_600_000
    const noted = JSON.stringify({ 'us-east': leftAtMs })
    await execute(db, 'UPDATE monitors SET left_regions = ?::jsonb WHERE id = ?', [noted, id])
    return { id, leftAtMs }
  }
  const before = await refused('us-east', 'result')
  const aside = await setAside('left_region')
  const checks: string[][] = []
  for (const days of [8, 6]) {
    const { id, leftAtMs } = await leftDaysAgo(days)
    const atMs = leftAtMs - 60_000
    await publish(nats, [createNextResult(id, { up: false, scheduledAtMs: atMs, startedAtMs: atMs })], 'us-east')
    await allRecorded()
    checks.push(await readChecks(id))
  }
  t.same(checks, [[], ['us-east 1']], 'a probe keeps results for a week')
  t.equal(await setAside('left_region'), aside + 1)
  t.equal(await refused('us-east', 'result'), before, 'it does not count as an attacker')
})

const png = (grey: number) => {
  const image = new PNG({ width: 8, height: 8 })
  image.data.fill(grey)
  for (let i = 3; i < image.data.length; i += 4) image.data[i] = 255
  return PNG.sync.write(image)
}
const [COMPARISON, FAILURE] = [ScreenshotKind.COMPARISON, ScreenshotKind.FAILURE]

async function send(
  takenIn: string,
  order: Partial<ScreenshotOrder> & { monitorId: string },
  grey = 255,
  probeId: string = randomUUID(),
) {
  const rest = { scheduledAtMs: Date.now(), attempt: 1, statusCode: 200, permit: new Uint8Array(), configVersion: 1 }
  const whole = { region: 'eu-west', kind: COMPARISON, ...rest, ...order }
  const [id, contentType] = [randomUUID(), 'image/png']
  const shot = { id, probeId, order: whole, contentType, image: png(grey), takenAtMs: Date.now() }
  await nats.js.publish(screenshotSubject(takenIn), Screenshot.encode(shot).finish())
  await waitFor(() => isEmpty(SCREENSHOTS_STREAM, 'screenshots'), { label: 'the screenshot to be handled' })
  return id
}
const readScreenshots = async (id: string): Promise<ListedScreenshot[]> =>
  (await listScreenshots(db, projectId, id, { limit: 10, offset: 0 })).rows

t.test('A probe cannot set the baseline or the difference of another region', async t => {
  const id = await insertMonitor(db, projectId, { regions: ['eu-west'] })
  const before = await refused('us-east', 'comparison')
  await send('us-east', { monitorId: id })
  t.same(await readScreenshots(id), [], 'it did not become the baseline')
  const own = await send('eu-west', { monitorId: id })
  await send('us-east', { monitorId: id }, 0)
  await send('us-east', { monitorId: id, region: 'us-east' }, 0)
  t.match(await readScreenshots(id), [{ id: own, isBaseline: true, difference: null }])
  t.same(await query(db, 'SELECT region, difference FROM screenshot_baselines WHERE monitor_id = ?', [id]), [
    { region: 'eu-west', difference: null },
  ])
  t.equal(await refused('us-east', 'comparison'), before + 3)
})

t.test('A screenshot of a failure in another region is stored only from the requested probe', async t => {
  const id = await insertMonitor(db, projectId, { regions: ['eu-west'] })
  const before = await refused('us-east', 'screenshot')
  const probeId = randomUUID()
  const order = { monitorId: id, region: 'eu-west', scheduledAtMs: Date.now(), attempt: 2, kind: FAILURE }
  const permit = createPermit({ probeId, order }, secrets)
  const asked = await send('us-east', { ...order, permit }, 0, probeId)
  t.match(await readScreenshots(id), [{ id: asked, region: 'eu-west', takenIn: 'us-east' }])
  await send('us-east', order, 0, probeId)
  await send('us-east', { ...order, permit }, 0)
  await send('us-east', { ...order, permit, attempt: 3 }, 0, probeId)
  await send(
    'us-east',
    { ...order, permit: createPermit({ probeId, order }, createSecretCipher(randomBytes(32))) },
    0,
    probeId,
  )
  await send('us-east', { ...order, permit, kind: COMPARISON }, 0, probeId)
  t.equal((await readScreenshots(id)).length, 1)
  t.equal(await refused('us-east', 'screenshot'), before + 4)
})

t.test('The health report says that a probe of the region may be compromised', async t => {
  // a report is stored after its message is acknowledged
  const isComplete = async () => {
    const [row] = await query<{ amount: number }>(db, 'SELECT sum(amount)::integer AS amount FROM foreign_reports')
    return row?.amount === 13
  }
  await waitFor(isComplete, { label: 'the last report to be written down' })
  const facts = await readHealthFacts({ db, nats, clickhouse })
  const shown = assessHealth(facts).filter(({ subject, isHealthy }) => subject === 'probes' && !isHealthy)
  t.same(
    shown.map(({ text }) => text.replace(/itself .*?,/, 'itself X,')),
    [
      'A probe of us-east, which names itself X, may be compromised: it sent 4 comparisons of pages for regions or monitors that are not its own',
      'A probe of us-east, which names itself X, may be compromised: it sent 5 results for regions or monitors that are not its own',
      'A probe of us-east, which names itself X, may be compromised: it sent 4 screenshots for regions or monitors that are not its own',
    ],
  )
  for (const { todo } of shown) t.match(todo, /Revoke the probes/)
})
