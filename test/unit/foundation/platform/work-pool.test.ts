import t from 'tap'
import { createWorkPool } from '../../../../control-plane/foundation/platform/concurrency/work-pool.ts'

/** Work that the test ends. */
function createWork() {
  let end = () => {}
  const ended = new Promise<void>(resolve => {
    end = resolve
  })
  return { run: () => ended, end }
}

const settle = () => new Promise(resolve => setImmediate(resolve))

t.test(
  'Running work and claimed work that waits take places, and the number of free places is never negative',
  async t => {
    const pool = createWorkPool({ maxConcurrent: 3 })
    t.equal(pool.free(), 3)
    const [first, second] = [createWork(), createWork()]
    pool.start(first.run)
    pool.start(second.run)
    t.same([pool.free(), pool.free(1), pool.free(5)], [1, 0, 0])
    first.end()
    await settle()
    t.equal(pool.free(), 2)
    second.end()
    await pool.waitUntilIdle()
    t.equal(pool.free(), 3)
  },
)

t.test('The number of running pieces is reported at each start and end, and a free place after its end', async t => {
  const seen: string[] = []
  const pool = createWorkPool({
    maxConcurrent: 2,
    onChange: running => seen.push(`${running} running`),
    onFree: () => seen.push(`${pool.free()} free`),
  })
  const [first, second] = [createWork(), createWork()]
  pool.start(first.run)
  pool.start(second.run)
  second.end()
  await settle()
  first.end()
  await settle()
  t.same(seen, ['1 running', '2 running', '1 running', '1 free', '0 running', '2 free'])
})

t.test('A worker that claims as soon as a place is free processes all rows, at most two at the same time', async t => {
  const rows = [1, 2, 3, 4, 5]
  const done: number[] = []
  let running = 0
  const pool = createWorkPool({ maxConcurrent: 2, onFree: () => claim() })
  const claim = () => {
    for (const row of rows.splice(0, pool.free())) pool.start(() => work(row))
  }
  const work = async (row: number) => {
    t.ok(++running <= 2)
    await settle()
    running--
    done.push(row)
  }
  claim()
  t.same(rows, [3, 4, 5])
  await pool.waitUntilIdle()
  t.same(done, [1, 2, 3, 4, 5])
})

t.test('Waiting for an idle pool includes work that running work starts', async t => {
  const done: string[] = []
  const first = createWork()
  const pool = createWorkPool({ maxConcurrent: 1 })
  pool.start(async () => {
    await first.run()
    done.push('first')
    pool.start(async () => {
      await settle()
      done.push('second')
    })
  })
  const idle = pool.waitUntilIdle().then(() => done.push('idle'))
  await settle()
  t.same(done, [])
  first.end()
  await idle
  t.same(done, ['first', 'second', 'idle'])
  await pool.waitUntilIdle()
})
