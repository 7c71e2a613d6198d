import t from 'tap'
import {
  createTestLimit,
  MAX_CONCURRENT_TESTS,
} from '../../../../control-plane/monitoring/fleet/on-demand/test-limit.ts'

const MINUTE = 60_000
const isTurn = (turn: object): turn is { end(): void } => 'end' in turn

t.test('a project may test so many monitors a minute, and is told when it may again', async t => {
  const take = createTestLimit(3)
  for (let i = 0; i < 3; i++) {
    const turn = take('p', 15_000)
    if (isTurn(turn)) turn.end()
    else t.fail(turn.message)
  }
  t.same(take('p', 15_000), {
    message: 'a project can make at most 3 tests of monitors in a minute',
    retryAfterSeconds: 45,
  })
  t.ok(isTurn(take('q', 15_000)), 'others are not held up')
  t.ok(isTurn(take('p', MINUTE)))
})

t.test('a project has at most ten tests running, and one that ended makes room', async t => {
  const take = createTestLimit(1_000)
  const turns = Array.from({ length: MAX_CONCURRENT_TESTS }, () => take('p', 0))
  t.ok(turns.every(isTurn))
  t.match(take('p', 0), { message: /10 tests of this project are running/, retryAfterSeconds: 5 })
  t.ok(isTurn(take('q', 0)))
  const [first] = turns
  if (first && isTurn(first)) first.end()
  t.ok(isTurn(take('p', 0)))
  t.notOk(isTurn(take('p', 0)))
})

t.test('a test that is refused because too many run does not count for the minute', async t => {
  const take = createTestLimit(MAX_CONCURRENT_TESTS + 1)
  const turns = Array.from({ length: MAX_CONCURRENT_TESTS }, () => take('p', 0))
  for (let i = 0; i < 5; i++) take('p', 0)
  for (const turn of turns) if (isTurn(turn)) turn.end()
  t.ok(isTurn(take('p', 0)))
})
