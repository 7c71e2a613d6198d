import t, { type Test } from 'tap'
import { createClickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import { connectNats, ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import { openDurableConsumer, waitForMessages } from '../../control-plane/foundation/platform/nats/durable-consumer.ts'
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startRecorder } from '../../control-plane/insight/analytics/recording/recorder.ts'
import { LATE_STREAM, RESULTS_STREAM, resultSubject } from '../../shared/nats/subjects.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createDatabase } from '../support/database.ts'
import { attemptWithGrowingTimeout } from '../support/growing-timeout.ts'
import { startNats } from '../support/nats.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import { HANG_MS, waitFor } from '../support/wait.ts'

// takes about 10 s

t.jobs = 3

/** How long a request waits at the server without messages. */
const IDLE_WAIT_MS = 5_000

/** Consumers of a separate server, on which a test sees each request for messages. */
async function setUp(t: Test) {
  const server = await startNats(t)
  const nats = await connectNats(server.url, 'test')
  t.teardown(() => nats.close())
  await ensureStreams(nats.manager)
  const requests: string[] = []
  nats.connection.subscribe('$JS.API.CONSUMER.MSG.NEXT.>', {
    callback: (_, message) => void requests.push(message.subject.split('.').at(-1)!),
  })
  return {
    server,
    nats,
    requests,
    publish: (text: string) => nats.js.publish(resultSubject(0, 'eu-west'), text),
    isWaiting: async (consumer: string, stream = RESULTS_STREAM) =>
      (await nats.manager.consumers.info(stream, consumer)).num_waiting === 1,
  }
}

t.test('A single message is returned immediately', async t => {
  const { nats, publish, isWaiting } = await setUp(t)
  const [earlier, consumer] = [
    await openDurableConsumer(nats, LATE_STREAM, 'without-messages'),
    await openDurableConsumer(nats, RESULTS_STREAM, 'idle'),
  ]
  const stopping = new AbortController()
  let hasEarlierEnded = false
  const ended = waitForMessages(earlier, 10, 100, stopping.signal, HANG_MS).then(() => {
    hasEarlierEnded = true
  })
  const awaited = waitForMessages(consumer, 10, 100, undefined, HANG_MS)
  await waitFor(async () => (await isWaiting('without-messages', LATE_STREAM)) && (await isWaiting('idle')), {
    label: 'both requests for messages',
  })
  await publish('single')
  const messages = await awaited
  t.notOk(hasEarlierEnded, 'before the end of a request that began earlier and has no messages')
  t.same(
    messages.map(message => message.string()),
    ['single'],
  )
  stopping.abort()
  await ended
})

t.test('Messages that arrive with the first one are returned with it, at most as many as requested', async t => {
  const { nats, publish, requests } = await setUp(t)
  const consumer = await openDurableConsumer(nats, RESULTS_STREAM, 'many')
  for (const text of ['1', '2', '3', '4', '5']) await publish(text)
  const take = async (atMost: number, maxWaitMs = HANG_MS) => {
    const messages = await waitForMessages(consumer, atMost, maxWaitMs, undefined, HANG_MS)
    for (const message of messages) message.ack()
    return messages.map(message => message.string())
  }
  t.same(await take(3), ['1', '2', '3'])
  requests.length = 0
  t.same(await take(1), ['4'])
  t.same(requests, ['many'], 'one message is one request')
  t.same(await take(3, 100), ['5'])
})

t.test('Without messages there is one request in five seconds, and it ends', async t => {
  const { nats, requests } = await setUp(t)
  const consumer = await openDurableConsumer(nats, RESULTS_STREAM, 'empty')
  const startedMs = performance.now()
  t.same(await waitForMessages(consumer, 10, 100), [])
  t.ok(performance.now() - startedMs > 0.9 * IDLE_WAIT_MS)
  t.same(requests, ['empty'])
})

t.test('A waiting recorder ends when it is stopped', async t => {
  const { nats, isWaiting } = await setUp(t)
  const clickhouse = createClickhouse('http://127.0.0.1:1')
  t.teardown(() => clickhouse.close())
  const db = createPostgres((await createDatabase(t)).url)
  t.teardown(() => db.destroy())
  const tools = { log: createLog('test', 'silent'), metrics: createMetrics() }
  const recorder = startRecorder({ db, nats, clickhouse, ...tools })
  await waitFor(async () => (await isWaiting('record')) && (await isWaiting('record-late', LATE_STREAM)), {
    label: 'both recorders waiting',
  })
  await recorder.stop()
  await waitFor(async () => !(await isWaiting('record')) && !(await isWaiting('record-late', LATE_STREAM)), {
    label: 'no recorder waiting',
  })
})

for (const lose of ['cut', 'swallow'] as const) {
  t.test(
    `A reader with a ${lose === 'cut' ? 'broken' : 'silent'} connection notices it and continues when the connection is back`,
    async t => {
      const { server, nats, publish, isWaiting } = await setUp(t)
      const relay = await startTcpRelay(t, server.url)
      const far = await connectNats(relay.url, 'far')
      t.teardown(() => far.close())
      await openDurableConsumer(nats, RESULTS_STREAM, 'far')
      const consumer = await far.js.consumers.get(RESULTS_STREAM, 'far')
      /** Loses the connection during a request for messages. A reader notices a silent one after the wait of the request. */
      const loseWhileWaiting = async (idleWaitMs: number) => {
        let isOver = false
        const outcome = waitForMessages(consumer, 10, 100, undefined, idleWaitMs)
          .then(
            () => 'no messages',
            () => 'an error',
          )
          .finally(() => {
            isOver = true
          })
        await waitFor(async () => isOver || (await isWaiting('far')), { label: 'a request for messages' })
        await relay[lose]()
        // the request ended before
        if ((await outcome) === 'no messages') await relay.restore()
        return outcome
      }
      const isError = (outcome: string) => outcome === 'an error'
      t.equal(await attemptWithGrowingTimeout(loseWhileWaiting, isError), 'an error')
      await publish('x')
      await relay.restore()
      const message = await waitFor(
        async () => {
          const messages = await waitForMessages(consumer, 10, 100)
          return messages[0]
        },
        { label: 'the message' },
      )
      t.equal(message.string(), 'x')
    },
  )
}

t.test('A message that arrived before the connection was lost is returned', async t => {
  const { server, nats, publish, requests, isWaiting } = await setUp(t)
  const relay = await startTcpRelay(t, server.url)
  const far = await connectNats(relay.url, 'far')
  t.teardown(() => far.close())
  await openDurableConsumer(nats, RESULTS_STREAM, 'far')
  const awaited = waitForMessages(await far.js.consumers.get(RESULTS_STREAM, 'far'), 10, 5_000, undefined, HANG_MS)
  await waitFor(() => isWaiting('far'), { label: 'a request for messages' })
  await publish('first')
  await waitFor(() => requests.length === 2, { label: 'the request for what comes with it' })
  relay.swallow()
  t.same(
    (await awaited).map(message => message.string()),
    ['first'],
  )
})
