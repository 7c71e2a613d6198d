import t from 'tap'
import { attemptWithGrowingTimeout } from '../../support/growing-timeout.ts'

t.test('Attempts have growing timeouts and end with the expected result', async t => {
  const timeoutsMs: number[] = []
  const attempt = async (timeoutMs: number) => timeoutsMs.push(timeoutMs)
  t.equal(await attemptWithGrowingTimeout(attempt, count => count === 2), 2)
  t.same(timeoutsMs, [500, 2_000])
  t.equal(await attemptWithGrowingTimeout(attempt, () => false), 6, 'the last result, which is not the expected one')
  t.same(timeoutsMs.slice(2), [500, 2_000, 8_000, 32_000])
})
