import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { machine } from '../../probe-agent/clock.ts'
import { buildMissedResult } from '../../probe-agent/execution/result-builder.ts'
import { createResultStream } from '../../probe-agent/results/nats.ts'
import { createResultPublisher } from '../../probe-agent/results/publisher.ts'
import { openSpool } from '../../probe-agent/results/spool.ts'
import { FailureSource, Outcome, type Result } from '../../proto/gen/probe/v1/result.ts'
import { PARTITIONS } from '../../shared/nats/subjects.ts'
import { createLog } from '../../shared/process/log.ts'
import { startNats } from '../support/nats.ts'
import { createIdOfPartition } from '../support/partitions.ts'
import { collectResults } from '../support/result-collector.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import { createVirtualTime } from '../support/virtual-time.ts'
import { waitFor } from '../support/wait.ts'

// takes about 20 s

const log = createLog('test', 'silent')

/** One monitor for each partition. */
const monitors = Array.from({ length: PARTITIONS }, (_, partition) => createIdOfPartition(partition))

/** A publisher with a real connection and a real spool, whose time the test controls. */
async function setUp(t: Test) {
  const nats = await startNats(t)
  const relay = await startTcpRelay(t, nats.url)
  const collector = await collectResults(t, nats.url)
  const directory = mkdtempSync(join(tmpdir(), 'picket-spool-'))
  const time = createVirtualTime()
  const spool = openSpool({ directory, maxBytes: 10_000_000, machine, log })
  const stream = createResultStream('probe', log, {
    onAway: () => publisher.markAway(),
    onBack: () => publisher.markBack(),
  })
  const publisher = createResultPublisher({
    ...{ stream, spool, log },
    probeId: 'probe-1',
    region: 'eu-west',
    machine: { ...machine, monotonicMs: time.monotonicMs, after: time.after },
    lateAfterMs: 3_600_000,
    onLate: id => t.fail(`a result of ${id} is late`),
  })
  t.teardown(async () => {
    await stream.close()
    await spool.close()
    rmSync(directory, { recursive: true, force: true })
  })
  stream.use({ url: relay.url, credentials: '', inboxPrefix: '_INBOX.probe-1' })
  await waitFor(() => stream.isConnected(), { label: 'the connection of the probe' })
  /** Advances the time until all results are stored. */
  const untilTaken = (count: number) =>
    waitFor(
      async () => {
        await time.pass(1_000)
        return publisher.published() === count
      },
      { label: `${count} results that JetStream took`, everyMs: 100 },
    )
  return { relay, collector, time, spool, stream, publisher, untilTaken }
}

let slotMs = 0

function result(monitorId: string, outcome: Outcome, attempt = 1): Result {
  slotMs += 1_000
  const error = { source: FailureSource.TARGET, code: 'status', message: 'status 500' }
  return {
    ...buildMissedResult({ monitorId, configVersion: 1, epoch: 1 }, slotMs, slotMs),
    ...{ outcome, attempt, error: outcome === Outcome.UP ? undefined : error },
  }
}

const slots = (results: Result[]) => results.map(({ scheduledAtMs }) => scheduledAtMs)

t.test('Successes of all partitions are sent together, a second after the first of them', async t => {
  const { collector, time, publisher } = await setUp(t)
  const first = monitors.map(id => result(id, Outcome.UP))
  publisher.publish(first[0]!)
  await time.pass(900)
  // another monitor of the same partition, and all other partitions
  const second = result(monitors[0]!, Outcome.UP)
  publisher.publish(second)
  for (const one of first.slice(1)) publisher.publish(one)
  await time.pass(99)
  t.equal((await collector.messages()).length, 0, 'a success can wait for a second')
  await time.pass(1)
  await waitFor(() => publisher.published() === PARTITIONS + 1, { label: 'all of them, in this second' })
  const messages = await collector.messages()
  t.equal(messages.length, PARTITIONS, 'one message of each partition')
  t.same(slots(messages.find(({ subject }) => subject === 'RESULTS.0.eu-west')!.batch.results), [
    first[0]!.scheduledAtMs,
    second.scheduledAtMs,
  ])

  const third = result(monitors[5]!, Outcome.UP)
  publisher.publish(third)
  await time.pass(999)
  t.equal((await collector.messages()).length, PARTITIONS, 'the next one waits for its own second')
  await time.pass(1)
  await waitFor(() => publisher.published() === PARTITIONS + 2, { label: 'the next one' })
})

t.test('A failure sends waiting results before it, and the attempts of a chain stay in order', async t => {
  const { relay, collector, publisher, untilTaken } = await setUp(t)
  const id = monitors[3]!
  const chain = (): Result[] => [
    result(id, Outcome.UP),
    ...[1, 2, 3].map(attempt => result(id, Outcome.DOWN, attempt)),
    result(id, Outcome.UP, 4),
  ]
  const sent = chain()
  for (const one of sent.slice(0, 4)) publisher.publish(one)
  await waitFor(() => publisher.published() === 4, { label: 'the failures, while no time passes' })
  publisher.publish(sent[4]!)
  await untilTaken(5)

  relay.hold()
  const held = chain()
  for (const one of held) publisher.publish(one)
  await waitFor(() => publisher.isAway(), { label: 'acks that do not come' })
  const later = chain()
  for (const one of later) publisher.publish(one)
  await relay.restore()
  await untilTaken(15)
  t.same(slots(await collector.results()), slots([...sent, ...held, ...later]), 'each once, in its order')
})

for (const { title, lose } of [
  { title: 'whose connection breaks', lose: 'cut' },
  { title: 'that is swallowed on its way', lose: 'swallow' },
  { title: 'whose acks come too late', lose: 'hold' },
] as const) {
  t.test(`No result of a flush ${title} is lost or stored twice`, async t => {
    const { relay, collector, time, spool, stream, publisher, untilTaken } = await setUp(t)
    const first = monitors.map(id => result(id, Outcome.UP))
    for (const one of first) publisher.publish(one)
    await relay[lose]()
    await time.pass(1_000)
    await waitFor(() => publisher.isAway() && spool.waiting() === PARTITIONS, { label: 'all results on disk' })
    t.equal(publisher.published(), 0)
    const second = monitors.map(id => result(id, Outcome.UP))
    for (const one of second) publisher.publish(one)
    t.equal(spool.waiting(), 2 * PARTITIONS)
    await relay.restore()
    await waitFor(() => stream.isConnected(), { label: 'the connection again' })
    await untilTaken(2 * PARTITIONS)
    const stored = await collector.results()
    t.same(slots(stored).sort(byNumber), slots([...first, ...second]), 'each once')
    for (const [partition, id] of monitors.entries()) {
      const expected = slots([first[partition]!, second[partition]!])
      t.same(
        slots(stored.filter(({ monitorId }) => monitorId === id)),
        expected,
        `in the order of partition ${partition}`,
      )
    }
    t.equal(spool.waiting(), 0, 'nothing is left to replay')
    t.equal(spool.dropped(), 0)
  })
}

const byNumber = (a: number, b: number) => a - b
