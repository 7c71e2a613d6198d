import t from 'tap'
import {
  type ChannelShare,
  computeDigestDueAt,
  groupByChannel,
  isStorm,
  selectDigestChanges,
} from '../../../../control-plane/alerting/routing/digests/grouping.ts'

const CHANNEL = { channelId: 'chat', projectId: 'p', threshold: 3 }
const change = (subject: string, channelId = 'chat', monitorId: string | null = subject) => ({
  channelId,
  subject,
  monitorId,
})

function buildShare(...subjects: string[]): ChannelShare {
  return groupByChannel(
    subjects.map(subject => change(subject)),
    [CHANNEL],
  )[0]!
}

t.test('Each channel that supports digests gets its changes, with each monitor counted once', async t => {
  const changes = [change('a'), change('a', 'hook'), change('b'), change('a'), change('c', 'mail')]
  const shares = groupByChannel(changes, [CHANNEL, { ...CHANNEL, channelId: 'mail' }])
  t.same(
    shares.map(share => [share.channelId, share.subjects, share.changes.length]),
    [
      ['chat', ['a', 'b'], 3],
      ['mail', ['c'], 1],
    ],
  )
})

const STORMS: [title: string, subjects: string[], others: number, isStormy: boolean][] = [
  ['as many monitors as the threshold are sent one by one', ['a', 'b', 'c'], 0, false],
  ['one more is a storm', ['a', 'b', 'c', 'd'], 0, true],
  ['one more after those of the last minute is a storm', ['a'], 3, true],
  ['those of the last minute alone are not a storm', ['a'], 2, false],
  ['a monitor that changes often is one monitor', ['a', 'a', 'a', 'a'], 2, false],
]
for (const [title, subjects, others, isStormy] of STORMS) {
  t.test(title, async t => t.equal(isStorm(buildShare(...subjects), others), isStormy))
}

t.test('An outage that is sent twice, as a change and as an incident, counts as one monitor', async t => {
  const both = ['a', 'b', 'c'].flatMap(id => [change(id), change(`incident of ${id}`, 'chat', id)])
  const [share] = groupByChannel(both, [CHANNEL])
  t.equal(share!.subjects.length, 6)
  t.notOk(isStorm(share!, 0))
  t.ok(isStorm(share!, 1))
})

t.test('Without digests there is no storm', async t => {
  const [share] = groupByChannel([change('a'), change('b')], [{ ...CHANNEL, threshold: Number.POSITIVE_INFINITY }])
  t.notOk(isStorm(share!, 1_000_000))
})

const DIVISIONS: [title: string, isStormy: boolean, waiting: string[], digest: string[]][] = [
  ['in a storm everything goes into the digest', true, [], ['a', 'b']],
  ['in a storm a change after an unsent single message is sent singly', true, ['a'], ['b']],
  ['without a storm everything is sent singly', false, [], []],
  ['without a storm a change after one in an unsent digest goes into the digest', false, ['b'], ['b']],
]
for (const [title, isStormy, waiting, digest] of DIVISIONS) {
  t.test(title, async t => {
    const chosen = selectDigestChanges(buildShare('a', 'b'), isStormy, new Set(waiting))
    t.same(
      chosen.map(({ subject }) => subject),
      digest,
    )
  })
}

const at = (seconds: number) => new Date(1_700_000_000_000 + seconds * 1_000)
const DUE: [title: string, lastClosedAt: Date | null, dueAt: Date][] = [
  ['the first digest waits ten seconds for more changes', null, at(110)],
  ['a digest long after the last one waits ten seconds', at(0), at(110)],
  ['a digest in the minute after the last one waits for the end of the minute', at(95), at(155)],
  ['a digest at the end of that minute waits ten seconds', at(45), at(110)],
  ['a last digest in the future, after the clock was set back, counts as closed now', at(3_700), at(160)],
]
for (const [title, lastClosedAt, dueAt] of DUE) {
  t.test(title, async t => t.same(computeDigestDueAt(at(100), lastClosedAt), dueAt))
}
