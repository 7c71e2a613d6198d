import t from 'tap'
import {
  isReachable,
  isReaderAlive,
  isStableReachable,
  mayReopen,
  type NatsReachability,
  recordAnswer,
} from '../../../../control-plane/verdict/reader/partitions/liveness.ts'

const NEVER = Number.NEGATIVE_INFINITY

t.test('A reader is alive while it works, or shortly after the server sent something', async t => {
  const rows: [string, Parameters<typeof isReaderAlive>, boolean][] = [
    ['it has just begun', [{ atMs: 1_000, workingSinceMs: null }, NEVER, 5_999], true],
    ['nothing was received since', [{ atMs: 1_000, workingSinceMs: null }, NEVER, 6_000], false],
    ['a heartbeat', [{ atMs: 1_000, workingSinceMs: null }, 9_000, 13_000], true],
    ['silence', [{ atMs: 1_000, workingSinceMs: null }, 9_000, 14_000], false],
    ['long work', [{ atMs: 1_000, workingSinceMs: 9_000 }, NEVER, 38_000], true],
    ['work without an end', [{ atMs: 1_000, workingSinceMs: 9_000 }, 39_000, 39_000], false],
  ]
  for (const [title, args, expected] of rows) t.equal(isReaderAlive(...args), expected, title)
})

t.test('A consumer is not opened again before the first heartbeat can have arrived', async t => {
  t.ok(mayReopen(NEVER, 1_000), 'the first one')
  t.notOk(mayReopen(1_000, 3_000), 'the heartbeat of the server comes after two seconds')
  t.notOk(mayReopen(1_000, 5_999))
  t.ok(mayReopen(1_000, 6_000))
})

t.test('A process waits after a gap without answers before it takes partitions', async t => {
  const atStart: NatsReachability = { answeredMs: 0, sinceMs: NEVER }
  t.ok(isStableReachable(atStart, 1_000))
  const steady = recordAnswer(recordAnswer(atStart, 2_000), 4_000)
  t.ok(isStableReachable(steady, 9_000))
  t.notOk(isReachable(steady, 9_001))
  t.notOk(isStableReachable(steady, 9_001))
  const back = recordAnswer(steady, 60_000)
  t.ok(isReachable(back, 60_000))
  t.notOk(isStableReachable(back, 62_000))
  t.ok(isStableReachable(recordAnswer(recordAnswer(recordAnswer(back, 62_000), 64_000), 66_000), 66_000))
})
