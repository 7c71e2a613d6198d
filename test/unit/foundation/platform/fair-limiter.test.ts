import t from 'tap'
import { createFairLimiter, type FairLimiterOptions } from '../../../../shared/process/fair-limiter.ts'

const refuse = (why: string) => new Error(why)
const LIMITS: FairLimiterOptions = {
  maxConcurrent: 2,
  maxConcurrentPerKey: 1,
  maxWaitingPerKey: 3,
  waitTimeoutMs: 600_000,
  refuse,
}

/** Work that the test ends; `begun` lists the work that has begun. */
function workshop(limits: Partial<FairLimiterOptions> = {}) {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const turns = createFairLimiter({ ...LIMITS, ...limits })
  const ask = (key: string, name: string) =>
    turns.run(key, () => {
      begun.push(name)
      return new Promise<void>(resolve => ends.set(name, resolve))
    })
  const settle = () => new Promise(resolve => setImmediate(resolve))
  const end = async (name: string) => {
    await settle()
    ends.get(name)?.()
    await settle()
    await settle()
  }
  return { begun, ask, end, settle, turns }
}

t.test('One key has one turn at a time, all keys two, and other keys come before a key that had its turn', async t => {
  const { begun, ask, end, settle } = workshop()
  const all = [ask('a', 'a1'), ask('a', 'a2'), ask('a', 'a3'), ask('b', 'b1'), ask('c', 'c1'), ask('b', 'b2')]
  await settle()
  t.same(begun, ['a1', 'b1'])
  await end('a1')
  t.same(begun.slice(2), ['a2'], 'it has waited longest')
  await end('a2')
  t.same(begun.slice(3), ['c1'], 'and not a3')
  await end('b1')
  t.same(begun.slice(4), ['b2'])
  await end('c1')
  t.same(begun.slice(5), ['a3'])
  await end('a3')
  await end('b2')
  await Promise.all(all)
})

t.test('Work beyond the queue of a key is refused, and work of other keys is not', async t => {
  const { begun, ask, end, turns } = workshop({ maxWaitingPerKey: 1 })
  const first = ask('a', 'a1')
  const second = ask('a', 'a2')
  t.ok(turns.isFull('a'))
  await t.rejects(ask('a', 'a3'), { message: 'full' })
  const other = ask('b', 'b1')
  await end('b1')
  await other
  await end('a1')
  await first
  t.notOk(turns.isFull('a'))
  await end('a2')
  await second
  t.same(begun, ['a1', 'b1', 'a2'])
})

t.test('Work that waits too long is refused and uses no turn; failed work ends its turn', async t => {
  let waiting = 0
  const { begun, ask, end, turns } = workshop({ waitTimeoutMs: 1, onWaiting: change => (waiting += change) })
  const first = ask('a', 'a1')
  const late = t.rejects(ask('a', 'a2'), { message: 'late' })
  t.equal(waiting, 1)
  await late
  t.equal(waiting, 0)
  await end('a1')
  await first
  await t.rejects(
    turns.run('a', async () => {
      throw new Error('broken')
    }),
    { message: 'broken' },
  )
  const again = ask('a', 'a3')
  await end('a3')
  await again
  t.same(begun, ['a1', 'a3'])
})

t.test('A wait for a turn ends when its signal aborts, and others keep their place', async t => {
  const { begun, ask, end, turns } = workshop()
  const first = ask('a', 'a1')
  const leaving = new AbortController()
  const left = turns.acquire('a', leaving.signal)
  const third = ask('a', 'a3')
  leaving.abort(new Error('gone'))
  await t.rejects(left, { message: 'gone' })
  await t.rejects(turns.acquire('b', leaving.signal), { message: 'gone' }, 'also when a turn is free')
  await end('a1')
  t.same(begun, ['a1', 'a3'])
  await end('a3')
  await Promise.all([first, third])
})
