import t, { type Test } from 'tap'
import { migrateClickhouse } from '../../control-plane/foundation/migrations/clickhouse/index.ts'
import { createClickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import { connectNats, ensureStreams, type Nats } from '../../control-plane/foundation/platform/nats/client.ts'
import { syncJetstreamClock } from '../../control-plane/foundation/platform/nats/jetstream-clock.ts'
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { monotonicMs } from '../../control-plane/foundation/platform/time/clock.ts'
import type { HealthFacts, NatsFacts } from '../../control-plane/operations/health/facts.ts'
import { readHealthFacts } from '../../control-plane/operations/health/facts-reader.ts'
import { assessHealth } from '../../control-plane/operations/health/findings/all-findings.ts'
import { CLOCK_STREAM, PINGS_STREAM, RESULTS_STREAM, resultSubject } from '../../shared/nats/subjects.ts'
import { createRemoteClock } from '../../shared/process/remote-clock.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { startTcpRelay, type TcpRelay } from '../support/tcp-relay.ts'

// takes about 40 s

const db = createPostgres((await createDatabase(t)).url, 20)
const { url } = await createClickhouseDatabase(t)
await migrateClickhouse(url)
const clickhouse = createClickhouse(url)
const server = await startNats(t)
const direct = await connectNats(server.url, 'test')
await ensureStreams(direct.manager)
// no partition has counted it, so the reader requests messages of each partition
await direct.js.publish(resultSubject(3, 'us-east'), 'x')
t.teardown(async () => {
  await direct.close()
  await clickhouse.close()
  await db.destroy()
})

/** Unhandled rejections would end a process of the control plane. */
const unhandled: unknown[] = []
process.on('unhandledRejection', error => void unhandled.push(error))

/** A separate connection to NATS, which can be cut without the others. Its clock is already learned. */
async function connectFar(t: Test): Promise<{ nats: Nats; relay: TcpRelay }> {
  const relay = await startTcpRelay(t, server.url)
  const nats = await connectNats(relay.url, 'far')
  t.teardown(() => nats.close())
  await syncJetstreamClock(nats)
  return { nats, relay }
}

/** Runs `act` right before the first request whose subject has this prefix. */
function beforeQuestion({ connection }: Nats, subjectStart: string, act: () => unknown): () => boolean {
  const ask = connection.request.bind(connection)
  let isAsked = false
  connection.request = (subject, ...rest) => {
    if (!isAsked && subject.startsWith(subjectStart)) {
      isAsked = true
      act()
    }
    return ask(subject, ...rest)
  }
  return () => isAsked
}

const engines = (facts: HealthFacts) =>
  assessHealth(facts)
    .filter(({ subject }) => ['postgres', 'nats', 'clickhouse'].includes(subject))
    .map(({ text }) => text)

const MOMENTS = {
  'the streams': '$JS.API.STREAM.INFO.',
  'the recorders': '$JS.API.CONSUMER.INFO.',
  'the partitions': '$JS.API.STREAM.MSG.GET.RESULTS',
}
const LOSSES: Record<string, (relay: TcpRelay) => unknown> = {
  'does not answer any more': relay => relay.swallow(),
  'breaks the connection': relay => relay.cut(),
}

t.test('A NATS that is lost while facts are read is named, and no process exits', async t => {
  const cases = Object.entries(LOSSES).flatMap(([how, lose]) =>
    Object.entries(MOMENTS).map(([moment, question]) => ({ title: `${how} at ${moment}`, lose, question })),
  )
  const far: Awaited<ReturnType<typeof connectFar>>[] = []
  for (const _ of cases) far.push(await connectFar(t))
  const read = await Promise.all(
    cases.map(async ({ title, lose, question }, i) => {
      const { nats, relay } = far[i]!
      const isAsked = beforeQuestion(nats, question, () => lose(relay))
      const facts = await readHealthFacts({ db, nats, clickhouse })
      return { title, facts, isAsked }
    }),
  )
  for (const { title, facts, isAsked } of read) {
    t.ok(isAsked(), title)
    t.equal(facts.nats, null, title)
    t.same(engines(facts), ['PostgreSQL answers', 'NATS does not answer', 'ClickHouse answers'], title)
    t.equal(facts.postgres?.partitions.length, 16, title)
  }
  t.same(unhandled, [])
})

t.test('The facts are read before all requests to a silent NATS time out', async t => {
  const { nats, relay } = await connectFar(t)
  // as in a process that has just started
  const { clock, ...rest } = nats
  const young = { ...rest, clock: createRemoteClock(monotonicMs) }
  relay.swallow()
  const ended: string[] = []
  await Promise.all([
    readHealthFacts({ db, nats: young, clickhouse }).then(facts => {
      ended.push('facts')
      t.same(engines(facts), ['PostgreSQL answers', 'NATS does not answer', 'ClickHouse answers'])
    }),
    // the first request alone: three limits of five seconds in sequence
    syncJetstreamClock(young).catch(() => ended.push('questions')),
  ])
  t.same(ended, ['facts', 'questions'])
  t.same(unhandled, [])
})

t.test('Facts of NATS are read again when it is back', async t => {
  const { nats, relay } = await connectFar(t)
  await relay.cut()
  t.equal((await readHealthFacts({ db, nats, clickhouse })).nats, null)
  await relay.restore()
  let facts = await readHealthFacts({ db, nats, clickhouse })
  while (facts.nats === null) facts = await readHealthFacts({ db, nats, clickhouse })
  t.same(engines(facts), ['PostgreSQL answers', 'NATS answers', 'ClickHouse answers'])
  t.same([...facts.nats.uncounted.keys()], [3], 'the message that no partition has counted')
  t.same(unhandled, [])
})

/** Requests whose subject begins so get no answer; all others do. */
function silence({ connection }: Nats, subjectStart: string): void {
  const ask = connection.request.bind(connection)
  connection.request = (subject, ...rest) =>
    subject.startsWith(subjectStart) ? new Promise(() => {}) : ask(subject, ...rest)
}

const NOTHING: Unread = { streams: [], recorders: [], partitions: [], clock: false }
const ALL_PARTITIONS = Array.from({ length: 16 }, (_, id) => id)
type Unread = NatsFacts['unread']

t.test('A question that NATS does not answer hides its own fact only', async t => {
  const cases: [subject: string, unread: Partial<Unread>, hidden: string[]][] = [
    ['$JS.API.STREAM.INFO.PINGS', { streams: ['PINGS'] }, ['streams', 'heartbeats']],
    ['$JS.API.CONSUMER.INFO.LATE', { recorders: ['LATE'] }, ['history']],
    // the recorder has no consumer here, so the oldest message of the stream is the one that it has not recorded
    ['$JS.API.STREAM.MSG.GET.RESULTS', { recorders: ['RESULTS'], partitions: ALL_PARTITIONS }, ['verdicts', 'history']],
  ]
  const far: Nats[] = []
  for (const _ of cases) far.push((await connectFar(t)).nats)
  await Promise.all(
    cases.map(async ([subject, unread, hidden], i) => {
      const nats = far[i]!
      silence(nats, subject)
      let facts = await readHealthFacts({ db, nats, clickhouse })
      // a machine that pauses can reach the limit of all facts first
      while (facts.nats === null) facts = await readHealthFacts({ db, nats, clickhouse })
      t.same(facts.nats.unread, { ...NOTHING, ...unread }, subject)
      t.equal(facts.nats.streams.length, unread.streams ? 3 : 4, 'the other streams')
      t.equal(facts.nats.recorders.length, unread.recorders ? 1 : 2, 'the other recorders')
      t.same([...facts.nats.uncounted.keys()], unread.partitions ? [] : [3])
      t.same(engines(facts), ['PostgreSQL answers', 'NATS answers', 'ClickHouse answers'], subject)
      const unknown = assessHealth(facts).filter(({ text }) => text.startsWith('It is unknown'))
      t.same([...new Set(unknown.map(one => one.subject))], hidden, subject)
    }),
  )
  t.same(unhandled, [])
})

/** As in a process that has just started. */
const makeYoung = (nats: Nats): Nats => ({ ...nats, clock: createRemoteClock(monotonicMs) })

t.test('A stream of the time that does not answer hides nothing but the time', async t => {
  const { nats } = await connectFar(t)
  silence(nats, `${CLOCK_STREAM}.`)
  const facts = await readHealthFacts({ db, nats: makeYoung(nats), clickhouse })
  t.same(facts.nats?.unread, { ...NOTHING, clock: true })
  t.equal(facts.nats!.nowMs, null)
  t.equal(facts.nats!.streams.length, 4)
  t.same([...facts.nats!.uncounted.keys()], [3])
  t.ok(
    assessHealth(facts).some(({ text }) => text.startsWith('It is unknown what time it is by the clock of JetStream')),
  )
  t.same(engines(facts), ['PostgreSQL answers', 'NATS answers', 'ClickHouse answers'])
  t.same(unhandled, [])
})

t.test('A program that reads the facts learns the time of JetStream and creates no stream for it', async t => {
  const { nats } = await connectFar(t)
  const before = await readHealthFacts({ db, nats: makeYoung(nats), clickhouse })
  t.ok(Math.abs(before.nats!.nowMs! - nats.clock.nowMs()!) < 1_000, 'the time that the other clock has')
  await direct.manager.streams.delete(CLOCK_STREAM)
  const after = await readHealthFacts({ db, nats: makeYoung(nats), clickhouse })
  t.match(after.nats, { nowMs: null, missingStreams: [CLOCK_STREAM], unread: NOTHING })
  const names = await direct.manager.streams.names().next()
  t.notOk(names.includes(CLOCK_STREAM), names.join())
  t.same(unhandled, [])
})

t.test('A stream that does not exist is named, and NATS counts as answering', async t => {
  const { nats } = await connectFar(t)
  for (const name of [RESULTS_STREAM, PINGS_STREAM]) await nats.manager.streams.delete(name)
  const facts = await readHealthFacts({ db, nats, clickhouse })
  t.same(facts.nats?.missingStreams, ['RESULTS', 'PINGS'])
  t.same(engines(facts), ['PostgreSQL answers', 'NATS answers', 'ClickHouse answers'])
  const texts = assessHealth(facts).map(({ text }) => text)
  t.ok(texts.includes('NATS has no stream RESULTS'))
  t.same(unhandled, [])
})
