import t from 'tap'
import { answered, isAnswering, isProven, isSettled, type Reach } from '../../../control-plane/results/proof.ts'

const NEVER = Number.NEGATIVE_INFINITY

t.test('A reader reads while it works, or when the server was heard a short time ago', async t => {
  const rows: [string, Parameters<typeof isProven>, boolean][] = [
    ['it has just begun', [{ atMs: 1_000, workingSinceMs: null }, NEVER, 5_999], true],
    ['nothing was heard since', [{ atMs: 1_000, workingSinceMs: null }, NEVER, 6_000], false],
    ['a heartbeat', [{ atMs: 1_000, workingSinceMs: null }, 9_000, 13_000], true],
    ['silence', [{ atMs: 1_000, workingSinceMs: null }, 9_000, 14_000], false],
    ['long work', [{ atMs: 1_000, workingSinceMs: 9_000 }, NEVER, 38_000], true],
    ['work without an end', [{ atMs: 1_000, workingSinceMs: 9_000 }, 39_000, 39_000], false],
  ]
  for (const [title, args, expected] of rows) t.equal(isProven(...args), expected, title)
})

t.test('After a time without answers a process waits for the others before it takes partitions', async t => {
  const atStart: Reach = { answeredMs: 0, sinceMs: NEVER }
  t.ok(isSettled(atStart, 1_000))
  const steady = answered(answered(atStart, 2_000), 4_000)
  t.ok(isSettled(steady, 9_000))
  t.notOk(isAnswering(steady, 9_001))
  t.notOk(isSettled(steady, 9_001))
  const back = answered(steady, 60_000)
  t.ok(isAnswering(back, 60_000))
  t.notOk(isSettled(back, 62_000))
  t.ok(isSettled(answered(answered(answered(back, 62_000), 64_000), 66_000), 66_000))
})
