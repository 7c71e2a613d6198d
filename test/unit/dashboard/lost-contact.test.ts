import { mock } from 'node:test'
import t from 'tap'
import { createCache, fetchInTime, setLive } from '../../../control-plane/dashboard/browser/server/queries.ts'

t.test('Without the stream of events, what the page shows is read again after 10 s', async t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const cache = createCache()
  const readAll = () => {
    cache.setQueryData(['readMonitor', {}], {})
    return () => cache.getQueryState(['readMonitor', {}])!.isInvalidated
  }
  setLive(cache, true)
  const isOld = readAll()
  setLive(cache, false)
  mock.timers.tick(9_999)
  t.notOk(isOld(), 'the stream may be open again soon')
  mock.timers.tick(1)
  t.ok(isOld())

  setLive(cache, true)
  const isOldAfterwards = readAll()
  setLive(cache, false)
  setLive(cache, true)
  mock.timers.tick(10_000)
  t.notOk(isOldAfterwards(), 'the stream is open again')
})

t.test('A read without an answer ends after 20 s, and a change does not', async t => {
  const limits: number[] = []
  const { signal } = new AbortController()
  t.intercept(AbortSignal, 'timeout', {
    value: (ms: number) => {
      limits.push(ms)
      return signal
    },
  })
  const sent: (RequestInit | undefined)[] = []
  t.intercept(globalThis, 'fetch', {
    value: async (_: unknown, init?: RequestInit) => {
      sent.push(init)
      return new Response()
    },
  })
  await fetchInTime(new Request('http://picket.test/api/v1/monitors'))
  await fetchInTime(new Request('http://picket.test/api/v1/monitors', { method: 'POST' }))
  t.equal(sent[0]?.signal, signal)
  t.equal(sent[1], undefined)
  t.same(limits, [20_000])
})
