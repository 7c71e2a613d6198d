import t from 'tap'
import { connectNats, ensureStreams, type StreamSettings } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { CLOCK_STREAM, LATE_STREAM, PINGS_STREAM, RESULTS_STREAM } from '../../shared/nats/subjects.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { insertTenant } from '../support/tenant.ts'
import {
  createNextResult,
  insertLiveProbes,
  insertMonitor,
  publish,
  readStatuses,
  run,
  startVerdictProcess,
} from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const { url } = await createDatabase(t)
const server = await startNats(t)
const db = createPostgres(url)
const nats = await connectNats(server.url, 'test')
t.teardown(async () => {
  await nats.close()
  await db.destroy()
})
const { projectId } = await insertTenant(db)
await insertLiveProbes(db)
const MIB = 1024 * 1024

const sizes = (results: number | null): StreamSettings => ({
  replicas: 1,
  maxBytes: { [RESULTS_STREAM]: results, [LATE_STREAM]: null },
})
const stream = (name: string = RESULTS_STREAM) => nats.manager.streams.info(name)
const reaches = (id: string, statuses: string) =>
  waitFor(async () => (await readStatuses(db, id)) === statuses, { label: statuses, timeoutMs: 120_000 })

t.test('A stream without a size gets one, and one with a size keeps it unless another is configured', async t => {
  await nats.manager.streams.add({ name: RESULTS_STREAM, subjects: [`${RESULTS_STREAM}.*.*`] })
  await nats.manager.streams.add({ name: LATE_STREAM, subjects: [`${LATE_STREAM}.*.*`], max_bytes: 5 * MIB })
  t.equal((await stream()).config.max_bytes, -1)
  await ensureStreams(nats.manager)
  const { max_bytes, discard } = (await stream()).config
  t.ok(max_bytes! >= 64 * MIB, 'as large as it should be, or as the disk allows')
  t.equal(discard, 'old')
  t.equal((await stream(LATE_STREAM)).config.max_bytes, 5 * MIB)
  await ensureStreams(nats.manager, sizes(MIB))
  await ensureStreams(nats.manager)
  t.equal((await stream()).config.max_bytes, MIB)
})

/** The manager of streams with other functions. */
const managerWith = (streams: object) =>
  Object.assign(Object.create(nats.manager), {
    streams: Object.assign(Object.create(nats.manager.streams), streams),
  }) as typeof nats.manager

t.test('A stream that does not answer keeps the size that it has', async t => {
  await nats.manager.streams.update(RESULTS_STREAM, { max_bytes: 7 * MIB })
  let isFirst = true
  const info = (name: string) => {
    if (name !== RESULTS_STREAM || !isFirst) return nats.manager.streams.info(name)
    isFirst = false
    return Promise.reject(new Error('timeout'))
  }
  await t.rejects(ensureStreams(managerWith({ info })), /timeout/)
  t.equal((await stream()).config.max_bytes, 7 * MIB)
})

t.test('A stream that another process creates between two questions keeps its size', async t => {
  const other = { name: RESULTS_STREAM, subjects: [`${RESULTS_STREAM}.*.*`], max_bytes: 5 * MIB }
  for (const questions of [1, 2]) {
    await nats.manager.streams.delete(RESULTS_STREAM)
    let asked = 0
    const info = async (name: string) => {
      if (name === RESULTS_STREAM && asked++ === questions) await nats.manager.streams.add(other)
      return nats.manager.streams.info(name)
    }
    await ensureStreams(managerWith({ info }))
    t.ok(asked > questions)
    t.equal((await stream()).config.max_bytes, 5 * MIB, `created after ${questions} questions`)
  }
  await ensureStreams(nats.manager, sizes(7 * MIB))
})

t.test('The stream of the time gets as many replicas as configured', async t => {
  const changes: [name: string, replicas: number | undefined][] = []
  const update = async (name: string, { num_replicas }: { num_replicas?: number }) =>
    void changes.push([name, num_replicas])
  await ensureStreams(managerWith({ update }), { ...sizes(7 * MIB), replicas: 3 })
  t.same(changes, [[CLOCK_STREAM, 3]])
  await ensureStreams(managerWith({ update }), sizes(7 * MIB))
  t.equal(changes.length, 1, 'enough of them')
})

t.test('A stream of the time that does not answer stops no other stream', async t => {
  const info = (name: string) =>
    name === CLOCK_STREAM ? Promise.reject(new Error('timeout')) : nats.manager.streams.info(name)
  await nats.manager.streams.delete(PINGS_STREAM)
  await ensureStreams(managerWith({ info }), sizes(7 * MIB))
  t.equal((await stream(PINGS_STREAM)).config.name, PINGS_STREAM)
})

t.test('With little room in NATS the streams are as large as it allows', async t => {
  const { streams } = nats.manager
  await streams.add({ name: 'ROOM', subjects: ['room'], max_bytes: 1_024 * MIB })
  for (let bytes = 2 ** 50; bytes >= 1_024 * MIB; bytes /= 2) {
    await streams.add({ name: `HOG${bytes}`, subjects: [`hog.${bytes}`], max_bytes: bytes }).catch(() => {})
  }
  for (const name of ['ROOM', RESULTS_STREAM, LATE_STREAM]) await streams.delete(name)
  await ensureStreams(nats.manager)
  const [results, late] = [await stream(), await stream(LATE_STREAM)].map(({ config }) => config.max_bytes)
  t.ok(results! >= 512 * MIB && results! <= 1_024 * MIB, `${results}`)
  t.equal(results, late! * 4, 'each has its share')
  for await (const { config } of streams.list()) if (config.name.startsWith('HOG')) await streams.delete(config.name)
})

t.test('A full stream drops its oldest results: verdicts continue, also for a reader that was stopped', async t => {
  await nats.manager.streams.delete(RESULTS_STREAM)
  await Promise.all([1, 2, 3].map(() => ensureStreams(nats.manager, sizes(MIB))))
  const id = await insertMonitor(db, projectId)
  const other = await insertMonitor(db, projectId)
  const fill = async () => {
    const results = Array.from({ length: 2_000 }, () =>
      createNextResult(other, { up: true, resolvedIp: 'x'.repeat(100) }),
    )
    for (let i = 0; i < 10; i++) await publish(nats, results)
  }
  const before = await startVerdictProcess(t, url, server.url)
  await run(nats, id, '++')
  await reaches(id, 'up')
  await fill()
  await run(nats, id, '-')
  await reaches(id, 'up down')
  t.ok((await stream()).state.first_seq > 1, 'the oldest messages are gone')
  t.ok((await stream()).state.bytes <= MIB)
  t.equal(await before.metric('picket_verdict_gaps_total'), 0)
  await before.stop()

  await run(nats, id, '+')
  await fill()
  await run(nats, id, '+')
  const after = await startVerdictProcess(t, url, server.url)
  await reaches(id, 'up down up')
  t.ok((await after.metric('picket_verdict_gaps_total')) > 0, 'the reader says what it has missed')
})

t.test('A new stream of results refuses messages that are too large, and an existing one keeps its limit', async t => {
  const names = [RESULTS_STREAM, LATE_STREAM]
  const limits = async () => Promise.all(names.map(async name => (await stream(name)).config.max_msg_size))
  for (const name of names) {
    await nats.manager.streams.delete(name)
    await nats.manager.streams.add({ name, subjects: [`${name}.*.*`] })
  }
  await ensureStreams(nats.manager)
  t.same(await limits(), [-1, -1])
  for (const name of names) await nats.manager.streams.delete(name)
  await ensureStreams(nats.manager)
  t.same(await limits(), [768 * 1024, 768 * 1024])
  for (const name of names) {
    await t.rejects(nats.js.publish(`${name}.3.us-east`, new Uint8Array(800 * 1024)), /maximum/)
    t.equal((await nats.js.publish(`${name}.3.us-east`, new Uint8Array(700 * 1024))).stream, name)
  }
})
