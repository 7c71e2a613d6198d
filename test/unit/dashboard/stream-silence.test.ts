import { mock } from 'node:test'
import t from 'tap'
import { followChanges } from '../../../control-plane/dashboard/browser/server/live.ts'
import { createTurns } from '../../../control-plane/dashboard/browser/server/prefetch.ts'

/** In place of the stream of a browser, which needs a page. */
class Stream extends EventTarget {
  static CLOSED = 2
  static all: Stream[] = []
  readyState = 1
  isClosed = false
  onerror = () => {}
  constructor(readonly address: string) {
    super()
    Stream.all.push(this)
  }
  close() {
    this.isClosed = true
  }
  send(name: string, data = '{}', lastEventId = '') {
    this.dispatchEvent(new MessageEvent(name, { data, lastEventId }))
  }
}

t.test(
  'A stream of events without heartbeats counts as lost after 22 s and continues after its last event',
  async t => {
    mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] })
    t.teardown(() => mock.timers.reset())
    t.intercept(globalThis, 'EventSource' as never, { value: Stream })
    t.intercept(globalThis, 'navigator' as never, { value: {} })
    const states: object[] = []
    const end = followChanges(
      '/session',
      ({ kind }) => states.push({ kind }),
      state => states.push(state),
    )
    const first = Stream.all[0]!
    first.send('ready', '{}', '7')
    for (let i = 0; i < 4; i++) {
      mock.timers.tick(15_000)
      first.send('heartbeat', '{}', `8.${i}`)
    }
    t.notOk(first.isClosed)
    t.same(states.splice(0), [{ isLive: true }, ...Array.from({ length: 4 }, () => ({ isHeartbeat: true }))])

    mock.timers.tick(21_999)
    t.notOk(first.isClosed)
    mock.timers.tick(2)
    t.ok(first.isClosed, 'nothing came')
    t.same(states.splice(0), [{ isLive: false }])
    t.same(
      Stream.all.map(({ address }) => address),
      ['/session/api/v1/events', '/session/api/v1/events?since=8.3'],
    )
    Stream.all[1]!.send('reset', '{"reason":"gap"}', '9')
    t.same(states, [{ kind: 'reset' }, { isLive: true }], 'it cannot continue there, and goes on from now')
    end()
    t.ok(Stream.all[1]!.isClosed)
    mock.timers.tick(60_000)
    t.equal(Stream.all.length, 2, 'a page that is left opens no stream')
  },
)

t.test('One screen is read in advance at a time, and then the last one that was pointed at', async t => {
  const read: string[] = []
  const finish: (() => void)[] = []
  const ask = createTurns<string>(name => {
    read.push(name)
    return new Promise(resolve => finish.push(resolve))
  })
  for (const name of ['a', 'b', 'c']) ask(name)
  t.same(read, ['a'])
  finish[0]!()
  await new Promise(setImmediate)
  t.same(read, ['a', 'c'])
  finish[1]!()
  await new Promise(setImmediate)
  ask('d')
  t.same(read, ['a', 'c', 'd'])
})
