import t from 'tap'
import { coalesce } from '../../../../control-plane/foundation/platform/concurrency/coalesce.ts'

t.test('Calls during a run share the next run, and runs never overlap', async t => {
  const ends: (() => void)[] = []
  let running = 0
  const ask = coalesce(async () => {
    t.equal(++running, 1)
    await new Promise<void>(resolve => ends.push(resolve))
    running--
  })
  const first = ask()
  const [second, third] = [ask(), ask()]
  ends[0]!()
  await first
  const fourth = ask()
  t.equal(ends.length, 2, 'who asks once the next has begun waits for one more')
  ends[1]!()
  await Promise.all([second, third])
  ends[2]!()
  await fourth
  t.equal(ends.length, 3)
})

t.test('A failed run rejects its calls, and not later ones', async t => {
  let runs = 0
  const ask = coalesce(async () => {
    if (++runs === 1) throw new Error('away')
  })
  const first = ask()
  const second = ask()
  await t.rejects(first, { message: 'away' })
  await second
  t.equal(runs, 2)
})
