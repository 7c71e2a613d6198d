import { createHash, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Objm } from '@nats-io/obj'
import t from 'tap'
import {
  createNatsObjectStore,
  type ObjectStore,
  type ObjectStoreSettings,
} from '../../control-plane/foundation/platform/object-storage/nats-bucket.ts'
import { createS3ObjectStore } from '../../control-plane/foundation/platform/object-storage/s3-bucket.ts'
import { signS3Request } from '../../control-plane/foundation/platform/object-storage/s3-signature.ts'
import { type Db, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startScreenshotRecorder } from '../../control-plane/monitoring/screenshots/intake/recorder.ts'
import { startScreenshotPruneWorker } from '../../control-plane/monitoring/screenshots/prune-worker.ts'
import { listScreenshots } from '../../control-plane/monitoring/screenshots/store.ts'
import { Screenshot } from '../../proto/gen/probe/v1/screenshot.ts'
import { SCREENSHOTS_STREAM, screenshotSubject } from '../../shared/nats/subjects.ts'
import { buildComparison, connectStreams, png, startScreenshotStore } from '../support/screenshots.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import type { Teardown } from '../support/teardown.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertMonitor } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const MIB = 1024 * 1024
const CREDENTIALS = { region: 'eu-1', accessKeyId: 'key', secretAccessKey: 'secret' }

/** A store with the part of S3 that Picket uses. It refuses requests that are not signed with its key. */
async function startS3(t: Teardown) {
  const objects = new Map<string, { bytes: Buffer; contentType: string | undefined }>()
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const stamp = String(headers['x-amz-date']).replace(/^(\d{4})(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5')
    const signed = signS3Request({ method, host: headers.host ?? '', path, body }, CREDENTIALS, new Date(stamp))
    const end = (status: number, answer: Uint8Array = Buffer.alloc(0)) => response.writeHead(status).end(answer)
    if (signed.authorization !== headers.authorization) return end(403)
    if (headers['x-amz-content-sha256'] !== createHash('sha256').update(body).digest('hex')) return end(400)
    if (method === 'PUT') objects.set(path, { bytes: body, contentType: headers['content-type'] })
    if (method === 'DELETE') objects.delete(path)
    if (method !== 'GET') return end(method === 'PUT' ? 200 : 204)
    const found = objects.get(path)
    return found ? end(200, found.bytes) : end(404)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, objects }
}

for (const kind of ['the object store of NATS', 'an S3-compatible store']) {
  t.test(
    `${kind} gives back what it was given, once more after it was replaced, and nothing after it was removed`,
    async t => {
      let objects: ObjectStore
      if (kind.includes('NATS')) objects = createNatsObjectStore(await connectStreams(t), 'SCREENSHOTS')
      else objects = createS3ObjectStore({ ...CREDENTIALS, bucket: 'shots', endpoint: (await startS3(t)).endpoint })
      const bytes = Buffer.alloc(1024 * 1024, 'é')
      t.equal(await objects.get('a/b/c.png'), null)
      await objects.put('a/b/c.png', bytes, 'image/png')
      t.ok((await objects.get('a/b/c.png'))?.equals(bytes))
      await objects.put('a/b/c.png', Buffer.from('new'), 'image/png')
      t.equal(String(await objects.get('a/b/c.png')), 'new')
      await objects.remove('a/b/c.png')
      t.equal(await objects.get('a/b/c.png'), null)
      await objects.remove('a/b/c.png')
    },
  )
}

t.test('The bucket has the configured size and replicas, also a bucket that was created without', async t => {
  const nats = await connectStreams(t)
  const stream = async () => (await nats.manager.streams.info('OBJ_SCREENSHOTS')).config
  const put = (settings: ObjectStoreSettings, bytes: number) =>
    createNatsObjectStore(nats, 'SCREENSHOTS', settings).put('a', Buffer.alloc(bytes), 'image/png')
  await t.rejects(
    put({ replicas: 3, maxBytes: null }, 1),
    { message: /replicas > 1/ },
    'one server refuses three replicas',
  )
  await new Objm(nats.js).create('SCREENSHOTS')
  await put({ replicas: 1, maxBytes: null }, 1)
  t.ok((await stream()).max_bytes >= 128 * MIB, 'as large as it should be, or as the disk allows')
  await put({ replicas: 1, maxBytes: MIB }, 1)
  t.equal((await stream()).max_bytes, MIB)
  await put({ replicas: 1, maxBytes: null }, 1)
  t.equal((await stream()).max_bytes, MIB, 'a size stays unless another is configured')
  await t.rejects(put({ replicas: 1, maxBytes: MIB }, 2 * MIB), { message: 'the bucket is full' })
})

t.test('A full bucket is not opened again at each file that it refuses', async t => {
  const nats = await connectStreams(t)
  const objects = createNatsObjectStore(nats, 'SCREENSHOTS', { replicas: 1, maxBytes: MIB })
  await objects.put('a', Buffer.alloc(1), 'image/png')
  const asked: string[] = []
  const ask = nats.connection.request.bind(nats.connection)
  nats.connection.request = (subject, ...rest) => {
    asked.push(subject)
    return ask(subject, ...rest)
  }
  for (const key of ['b', 'c', 'd'])
    await t.rejects(objects.put(key, Buffer.alloc(2 * MIB), 'image/png'), { message: 'the bucket is full' })
  const openings = asked.filter(subject => subject === '$JS.API.STREAM.INFO.OBJ_SCREENSHOTS')
  t.same(openings, [])
  await objects.put('e', Buffer.from('small'), 'image/png')
  t.equal(String(await objects.get('e')), 'small')
})

t.test('A bucket that NATS has lost is created again by the recorder that is running', async t => {
  const context = await startScreenshotStore(t, { replicas: 1, maxBytes: 8 * MIB })
  const { db, nats, projectId, monitorId, objects } = context
  const recorder = startScreenshotRecorder(context)
  t.teardown(() => recorder.stop())
  const { streams } = nats.manager
  const list = async () => (await listScreenshots(db, projectId, monitorId, { limit: 10, offset: 0 })).rows
  const send = (grey: number, at: number) =>
    nats.js.publish(screenshotSubject('us-east'), Screenshot.encode(buildComparison(monitorId, grey, at)).finish())
  await send(255, 1_000)
  await waitFor(async () => (await list()).length === 1, { label: 'the baseline' })
  await streams.delete('OBJ_SCREENSHOTS')
  await send(0, 2_000)
  const [newest] = await waitFor(async () => ((await list()).length === 2 ? list() : null), {
    label: 'a screenshot in the new bucket',
  })
  t.ok((await objects.get(newest!.storeKey))?.equals(png(0)))
  t.equal((await streams.info('OBJ_SCREENSHOTS')).config.max_bytes, 8 * MIB, 'with the configured size')
})

t.test('An object that is replaced during a read is returned complete, in the old or the new version', async t => {
  const objects = createNatsObjectStore(await connectStreams(t), 'SCREENSHOTS')
  const pictures = [0, 1].map(byte => Buffer.alloc(1024, byte))
  await objects.put('a', pictures[0]!, 'image/png')
  const reads = new AbortController()
  const replace = async () => {
    for (let i = 1; !reads.signal.aborted; i++) await objects.put('a', pictures[i % 2]!, 'image/png')
  }
  const replacing = replace()
  for (let i = 0; i < 15; i++) {
    const read = await objects.get('a')
    t.ok(pictures.some(picture => read?.equals(picture)))
  }
  reads.abort()
  await replacing
})

t.test('An S3 store that refuses requests or is unreachable causes an error, not an empty answer', async t => {
  const { endpoint } = await startS3(t)
  const wrong = createS3ObjectStore({ ...CREDENTIALS, secretAccessKey: 'other', bucket: 'shots', endpoint })
  await t.rejects(wrong.put('a', Buffer.from('x'), 'image/png'), { message: /403/ })
  await t.rejects(wrong.get('a'), { message: /403/ })
  const away = createS3ObjectStore({ ...CREDENTIALS, bucket: 'shots', endpoint: 'http://127.0.0.1:1' })
  await t.rejects(away.get('a'))
})

t.test('The first comparison becomes the baseline; a duplicate or invalid one changes nothing', async t => {
  const context = await startScreenshotStore(t)
  const { db, nats, projectId, monitorId } = context
  const recorder = startScreenshotRecorder(context)
  t.teardown(() => recorder.stop())
  const send = (data: Uint8Array) => nats.js.publish(screenshotSubject('us-east'), data)
  const list = async () => (await listScreenshots(db, projectId, monitorId, { limit: 10, offset: 0 })).rows
  const [first, second] = [buildComparison(monitorId, 255, 1_000), buildComparison(monitorId, 0, 2_000)]
  await send(Screenshot.encode(first).finish())
  await send(Buffer.from('no screenshot'))
  await send(Screenshot.encode({ ...first, id: randomUUID(), image: first.image.subarray(0, 40) }).finish())
  await send(Screenshot.encode(buildComparison(randomUUID(), 0, 1_000)).finish())
  await send(Screenshot.encode(second).finish())
  await send(Screenshot.encode(second).finish())
  const rows = await waitFor(async () => ((await list()).length === 2 ? list() : null), { label: 'two screenshots' })
  t.match(rows, [
    { id: second.id, kind: 'comparison', isBaseline: false, difference: 1, takenIn: 'us-east', region: 'us-east' },
    { id: first.id, isBaseline: true, difference: null },
  ])
  t.ok((await context.objects.get(rows[0]!.storeKey))?.equals(png(0)))

  // another address is another page, so the former baseline does not apply
  await execute(db, "UPDATE monitors SET url = 'https://new.example', config_version = 2 WHERE id = ?", [monitorId])
  const third = buildComparison(monitorId, 0, 3_000, { configVersion: 2 })
  await send(Screenshot.encode(second).finish())
  await send(Screenshot.encode(third).finish())
  await waitFor(async () => (await list()).find(({ id }) => id === third.id)?.isBaseline, { label: 'a new baseline' })
})

t.test('Screenshots wait while the object store is unreachable, and are stored when it is back', async t => {
  const context = await startScreenshotStore(t)
  const relay = await startTcpRelay(t, (await startS3(t)).endpoint)
  await relay.cut()
  const putOff = new Set<string>()
  context.nats.connection.subscribe(`$JS.ACK.${SCREENSHOTS_STREAM}.screenshots.>`, {
    callback: (_, message) => {
      if (message.string() === '-NAK {"delay":2000000000}') putOff.add(message.subject.split('.')[5]!)
    },
  })
  const objects = createS3ObjectStore({ ...CREDENTIALS, bucket: 'shots', endpoint: new URL(relay.url).origin })
  for (const at of [1_000, 2_000, 3_000]) {
    const shot = Screenshot.encode(buildComparison(context.monitorId, 255, at)).finish()
    await context.nats.js.publish(screenshotSubject('us-east'), shot)
  }
  const recorder = startScreenshotRecorder({ ...context, objects })
  t.teardown(() => recorder.stop())
  await waitFor(() => putOff.size === 3, { label: 'all three to be deferred for two seconds' })
  const consumer = () => context.nats.manager.consumers.info(SCREENSHOTS_STREAM, 'screenshots')
  await waitFor(async () => (await consumer()).num_redelivered > 0, { label: 'a second try' })
  await relay.restore()
  const page = { limit: 10, offset: 0 }
  const list = () => listScreenshots(context.db, context.projectId, context.monitorId, page)
  await waitFor(async () => (await list()).total === 3, { label: 'three screenshots' })
})

t.test('Screenshots are deleted after 30 days, a baseline when nothing is compared with it', async t => {
  const context = await startScreenshotStore(t)
  const { db, monitorId, projectId, objects } = context
  const recorder = startScreenshotRecorder(context)
  const shots = [
    buildComparison(monitorId, 255, 1_000),
    buildComparison(monitorId, 0, 2_000),
    buildComparison(monitorId, 9, 3_000),
  ]
  for (const shot of shots)
    await context.nats.js.publish(screenshotSubject('us-east'), Screenshot.encode(shot).finish())
  const ids = async () =>
    (await query<{ id: string }>(db, 'SELECT id FROM screenshots ORDER BY scheduled_at')).map(row => row.id)
  await waitFor(async () => (await ids()).length === 3)
  await recorder.stop()
  const age = (days: number, id: string) =>
    execute(db, `UPDATE screenshots SET created_at = now() - CAST(? AS integer) * interval '1 day' WHERE id = ?`, [
      days,
      id,
    ])
  await age(31, shots[0]!.id)
  await age(31, shots[1]!.id)
  await age(29, shots[2]!.id)

  await prune(t, context, db, async () => (await ids()).length === 2)
  t.same(await ids(), [shots[0]!.id, shots[2]!.id], 'the baseline and the new one')
  t.equal(await objects.get(`${projectId}/${monitorId}/${shots[1]!.id}.png`), null)
  t.not(await objects.get(`${projectId}/${monitorId}/${shots[0]!.id}.png`), null)
  await execute(db, 'UPDATE monitors SET deleted_at = now() WHERE id = ?', [monitorId])
  await prune(t, context, db, async () => (await ids()).length === 1)
})

t.test('The oldest screenshots of a project beyond its limit are deleted, and its baselines stay', async t => {
  const context = await startScreenshotStore(t)
  const { db, monitorId, projectId, objects } = context
  const recorder = startScreenshotRecorder(context)
  const foreign = await insertMonitor(db, (await insertTenant(db)).projectId)
  const shots = [1, 2, 3, 4, 5].map(i => buildComparison(i === 1 ? foreign : monitorId, i * 40, i * 1_000))
  for (const shot of shots)
    await context.nats.js.publish(screenshotSubject('us-east'), Screenshot.encode(shot).finish())
  const ids = async () =>
    (await query<{ id: string }>(db, 'SELECT id FROM screenshots ORDER BY scheduled_at')).map(row => row.id)
  await waitFor(async () => (await ids()).length === 5)
  await recorder.stop()
  const [newest] = shots.slice(-1)
  await execute(db, 'UPDATE screenshots SET created_at = now() + (scheduled_at - to_timestamp(10))')
  await prune(t, { ...context, projectMaxBytes: newest!.image.length }, db, async () => (await ids()).length === 3)
  t.same(await ids(), [shots[0]!.id, shots[1]!.id, newest!.id], 'of another project, the baseline and the newest')
  t.equal(await objects.get(`${projectId}/${monitorId}/${shots[2]!.id}.png`), null)
})

type Context = Omit<Parameters<typeof startScreenshotPruneWorker>[0], 'projectMaxBytes'> & { projectMaxBytes?: number }

async function prune(t: Teardown, context: Context, db: Db, isDone: () => Promise<boolean>): Promise<void> {
  const worker = startScreenshotPruneWorker({ projectMaxBytes: 1024 ** 3, ...context, db })
  t.teardown(() => worker.stop())
  await waitFor(isDone, { label: 'old screenshots to be deleted' })
  await worker.stop()
}
