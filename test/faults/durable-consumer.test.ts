import t from 'tap'
import { connectNats, ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import {
  fetchMessages,
  keepInProgress,
  openDurableConsumer,
} from '../../control-plane/foundation/platform/nats/durable-consumer.ts'
import { RESULTS_STREAM, resultSubject } from '../../shared/nats/subjects.ts'
import { startNats } from '../support/nats.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import { HANG_MS, waitFor } from '../support/wait.ts'

const server = await startNats(t)
const nats = await connectNats(server.url, 'test')
t.teardown(() => nats.close())
await ensureStreams(nats.manager)
const publish = (text: string) => nats.js.publish(resultSubject(0, 'eu-west'), text)

t.test('A lost message is delivered again within ten seconds', async t => {
  // as an earlier release created it
  await nats.manager.consumers.add(RESULTS_STREAM, {
    durable_name: 'lost',
    ack_policy: 'explicit',
    ack_wait: 60 * 1_000_000_000,
    max_ack_pending: 10_000,
  })
  const relay = await startTcpRelay(t, server.url)
  const far = await connectNats(relay.url, 'far')
  t.teardown(() => far.close())
  const consumer = await openDurableConsumer(far, RESULTS_STREAM, 'lost')
  const info = () => nats.manager.consumers.info(RESULTS_STREAM, 'lost')
  t.ok((await info()).config.ack_wait! <= 10 * 1_000_000_000)
  const fetched = fetchMessages(consumer, 1, HANG_MS)
  await waitFor(async () => (await info()).num_waiting === 1, { label: 'a request for a message' })
  relay.swallow()
  await publish('lost')
  await waitFor(async () => (await info()).num_ack_pending === 1, { label: 'the message on its way' })
  await relay.restore()
  const [message] = await fetched
  t.match(message, { redelivered: true })
  t.equal(message?.string(), 'lost')
  message?.ack()
})

t.test('A message in progress is not delivered again during long work', async t => {
  const signals: string[] = []
  nats.connection.subscribe('$JS.ACK.RESULTS.slow.>', {
    callback: (_, message) => void signals.push(message.string()),
  })
  const consumer = await openDurableConsumer(nats, RESULTS_STREAM, 'slow')
  await publish('slow')
  await waitFor(async () => (await nats.manager.consumers.info(RESULTS_STREAM, 'slow')).num_pending === 2)
  const messages = await fetchMessages(consumer, 2, HANG_MS)
  t.equal(messages.length, 2)
  messages[0]!.ack()
  // the last is twelve seconds after the first
  const work = waitFor(() => signals.filter(signal => signal === '+WPI').length >= 6, { label: 'six signals' })
  await keepInProgress(messages, work)
  t.match(await nats.manager.consumers.info(RESULTS_STREAM, 'slow'), { num_ack_pending: 1, num_redelivered: 0 })
  messages[1]!.nak()
  const [again] = await fetchMessages(consumer, 1, HANG_MS)
  t.match(again, { seq: messages[1]!.seq, redelivered: true })
  again?.ack()
})

t.test('An error of the work is passed on', async t => {
  await t.rejects(keepInProgress([], Promise.reject(new Error('the disk is full'))), /the disk is full/)
})

t.test('A fetch ends at once when its signal is aborted, and leaves the next message to others', async t => {
  const consumer = await openDurableConsumer(nats, RESULTS_STREAM, 'stopped')
  const others = await fetchMessages(consumer, 2, HANG_MS)
  t.same(
    others.map(message => message.string()),
    ['lost', 'slow'],
  )
  for (const message of others) message.ack()
  const stopping = new AbortController()
  const fetched = fetchMessages(consumer, 1, 2 * HANG_MS, stopping.signal)
  const info = () => nats.manager.consumers.info(RESULTS_STREAM, 'stopped')
  await waitFor(async () => (await info()).num_waiting === 1, { label: 'a request for a message' })
  stopping.abort()
  t.same(await fetched, [])
  await waitFor(async () => (await info()).num_waiting === 0, { label: 'the end of the request' })
  await publish('next')
  const [next] = await fetchMessages(consumer, 1, HANG_MS)
  t.match(next, { redelivered: false })
  t.equal(next?.string(), 'next')
  next?.ack()
})
