import t from 'tap'
import { createTestLimit, MAX_CONCURRENT_TESTS } from '../../../../control-plane/foundation/web/test-limit.ts'

const MINUTE = 60_000
const isSlot = (slot: object): slot is { end(): void } => 'end' in slot

t.test('A project over its tests a minute is refused with the time to wait', async t => {
  const take = createTestLimit(3)
  for (let i = 0; i < 3; i++) {
    const slot = take('p', 15_000)
    if (isSlot(slot)) slot.end()
    else t.fail(slot.message)
  }
  t.same(take('p', 15_000), {
    message: 'a project can make at most 3 tests of monitors in a minute',
    retryAfterSeconds: 45,
  })
  t.ok(isSlot(take('q', 15_000)), 'other projects are not affected')
  t.ok(isSlot(take('p', MINUTE)))
})

t.test('A project has at most ten concurrent tests, and a finished one frees a slot', async t => {
  const take = createTestLimit(1_000)
  const slots = Array.from({ length: MAX_CONCURRENT_TESTS }, () => take('p', 0))
  t.ok(slots.every(isSlot))
  t.match(take('p', 0), { message: /at most 10 tests at the same time/, retryAfterSeconds: 5 })
  t.ok(isSlot(take('q', 0)))
  const [first] = slots
  if (first && isSlot(first)) first.end()
  t.ok(isSlot(take('p', 0)))
  t.notOk(isSlot(take('p', 0)))
})

t.test('A test that is refused because of concurrency does not count for the minute', async t => {
  const take = createTestLimit(MAX_CONCURRENT_TESTS + 1)
  const slots = Array.from({ length: MAX_CONCURRENT_TESTS }, () => take('p', 0))
  for (let i = 0; i < 5; i++) take('p', 0)
  for (const slot of slots) if (isSlot(slot)) slot.end()
  t.ok(isSlot(take('p', 0)))
})
