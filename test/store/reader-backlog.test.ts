import t from 'tap'
import { connectNats, ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import { openOrderedReader } from '../../control-plane/foundation/platform/nats/ordered-reader.ts'
import { hasReadAll } from '../../control-plane/verdict/reader/unchecked/unchecked.ts'
import { partitionFilter, RESULTS_STREAM, resultSubject } from '../../shared/nats/subjects.ts'
import { startNats } from '../support/nats.ts'

const MESSAGES = 1_000
/** more than a reader has in its queue at any time */
const MAX_MESSAGES = 200

t.test('a reader with a backlog knows that it has not read everything, also when it gets few messages', async t => {
  const server = await startNats(t)
  const nats = await connectNats(server.url, 'test')
  t.teardown(() => nats.close())
  await ensureStreams(nats.manager)
  await Promise.all(Array.from({ length: MESSAGES }, () => nats.js.publish(resultSubject(3, 'us-east'), 'x')))
  const reader = await openOrderedReader(nats, RESULTS_STREAM, partitionFilter(3), { sequence: 1 })
  t.teardown(() => reader.close())
  let [read, reads] = [0, 0]
  while (read < MESSAGES) {
    const messages = await reader.take(MAX_MESSAGES, 5_000)
    if (messages.length === 0) continue
    read += messages.length
    reads++
    t.equal(hasReadAll(messages), read === MESSAGES, `after ${read} messages`)
  }
  t.ok(reads > 1, 'more than one read')
  t.ok(hasReadAll([]), 'nothing arrived')
})
