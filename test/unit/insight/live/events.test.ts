import t from 'tap'
import {
  buildBoardEvent,
  buildRecordEvents,
  identifyLast,
} from '../../../../control-plane/insight/live/events/change-events.ts'
import { formatEvent, formatHeartbeat, formatRetry } from '../../../../control-plane/insight/live/events/event-text.ts'
import { createOutgoingText } from '../../../../control-plane/insight/live/events/outgoing-text.ts'
import {
  createStreamRegistry,
  type EventStream,
} from '../../../../control-plane/insight/live/events/stream-registry.ts'

t.test('Events have the format of Server-Sent Events', async t => {
  t.equal(formatEvent({ event: 'ready', data: '{}' }), 'event: ready\ndata: {}\n\n')
  t.equal(formatEvent({ event: 'board', data: '{}', id: '1.2' }), 'event: board\nid: 1.2\ndata: {}\n\n')
  t.equal(formatHeartbeat('1.2'), 'event: heartbeat\nid: 1.2\ndata: {}\n\n')
  t.equal(formatRetry(2_000), 'retry: 2000\n\n')
  t.same(buildBoardEvent(null), { event: 'board', data: '{"changes":null}' })
})

t.test('Changed records are one event of each kind, without ids when there are many', async t => {
  const many = Array.from({ length: 101 }, (_, i) => String(i))
  const events = buildRecordEvents(
    new Map([
      ['channel', many],
      ['monitor', ['m']],
      ['incident', ['i']],
    ]),
  )
  t.same(events, [
    { event: 'incident', data: '{"ids":["i"]}' },
    { event: 'channel', data: '{"ids":null}' },
  ])
  t.same(
    identifyLast(events, '7').map(({ id }) => id),
    [undefined, '7'],
  )
})

t.test('A text that the reader does not take is refused beyond 256 KiB', async t => {
  const text = createOutgoingText()
  const block = 'x'.repeat(100 * 1024)
  t.same([text.write(block), text.write(block), text.write(block)], [true, true, false])
  text.end(false)
  t.equal(text.readable.destroyed, true, 'the rest is not waited for')
  t.equal(text.write('x'), false)
})

const buildStream = (projectId: string, keyId: string, ended: string[] = []): EventStream => ({
  ...{ projectId, keyId, position: null, version: 0, greeting: null, checkedMs: 0, heartbeatMs: 0, write() {} },
  end: why => ended.push(why),
  isAllowed: async () => true,
})

t.test('A key has 10 streams and a project 100, and a closed one makes room', async t => {
  let open = 0
  const registry = createStreamRegistry(count => {
    open = count
  })
  const removals = Array.from({ length: 100 }, (_, i) => registry.add(buildStream('p', `k${i % 10}`)))
  t.throws(() => registry.add(buildStream('q', 'k1')), { status: 429, message: /10 open event streams/ })
  t.throws(() => registry.add(buildStream('p', 'new')), { status: 429, message: /100 open event streams/ })
  t.equal(open, 100)
  removals[0]!()
  removals[0]!()
  t.equal(open, 99)
  registry.add(buildStream('p', 'new'))
  t.same([registry.hasProject('p'), registry.hasProject('q')], [true, false])
  t.equal(registry.list().length, 100)
})

t.test('A process that stops ends its streams and accepts no more', async t => {
  const ended: string[] = []
  const registry = createStreamRegistry(() => {})
  registry.add(buildStream('p', 'k', ended))
  registry.endAll()
  t.same(ended, ['stopping'])
  t.throws(() => registry.add(buildStream('p', 'k')), { status: 503, message: /try again/ })
})
