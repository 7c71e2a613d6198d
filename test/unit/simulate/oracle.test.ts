import t from 'tap'
import type { Chronicle, CommittedTransition, FaultSeen, TargetOutage } from '../../simulate/oracle/chronicle.ts'
import { judge } from '../../simulate/oracle/judge.ts'

const MIN = 60_000
const HOUR = 60 * MIN
const ID = 'a monitor'

/** An hour of a monitor every 30 s with a timeout of 10 s and two re-checks: `refused` is promised within 37 s. */
function hourOf(given: Partial<Chronicle>, regions = ['us-east', 'eu-west', 'ap-northeast']): Chronicle {
  const settings = { fromMs: 0, regions, intervalS: 30, timeoutMs: 10_000, retryCount: 2, witness: true }
  return {
    seed: 0,
    endMs: HOUR,
    checks: 100,
    liveSets: 6,
    kinds: {},
    monitors: [{ id: ID, settings: [{ ...settings, isPaused: false, isOtherTarget: true }], isSlow: false }],
    outages: [],
    faults: [],
    transitions: [],
    ...given,
  }
}

const outage = (fromMs: number, lastedMs: number, kind = 'refused'): TargetOutage => ({
  ...{ monitorId: ID, kind, fromMs },
  toMs: fromMs + lastedMs,
  isShared: false,
})
const moved = (atMs: number, from: string | null, to: string | null): CommittedTransition => ({
  ...{ monitorId: ID, atMs, from, to },
  quorum: 'full',
})
const fault = (kind: string, fromMs: number, lastedMs: number, region: string | null): FaultSeen => ({
  ...{ kind, fromMs, region, place: region ?? '', size: 0.5 },
  toMs: fromMs + lastedMs,
})
const FIRST_UP = moved(1_000, null, 'up')
const TEN = 10 * MIN

type Row = [title: string, given: Partial<Chronicle>, found: string[], regions?: string[]]
const rows: Row[] = [
  [
    'an outage that is reported in time',
    {
      outages: [outage(TEN, MIN)],
      transitions: [FIRST_UP, moved(TEN + 30_000, 'up', 'down'), moved(TEN + 70_000, 'down', 'up')],
    },
    [],
  ],
  ['an outage that is not reported', { outages: [outage(TEN, MIN)], transitions: [FIRST_UP] }, ['missed']],
  [
    'an outage that is shorter than what is promised',
    { outages: [outage(TEN, MIN, 'slow')], transitions: [FIRST_UP] },
    [],
  ],
  [
    'an outage that is reported late',
    { outages: [outage(TEN, 5 * MIN)], transitions: [FIRST_UP, moved(TEN + 45_000, 'up', 'down')] },
    ['late'],
  ],
  [
    'one that is late because the work of a probe had to move',
    {
      outages: [outage(TEN, 5 * MIN)],
      transitions: [FIRST_UP, moved(TEN + 45_000, 'up', 'down')],
      faults: [{ ...fault('probe-killed', TEN, 5_000, 'us-east'), place: 'us-east-1' }],
    },
    [],
  ],
  [
    'a probe of another region does not excuse it',
    {
      outages: [outage(TEN, 5 * MIN)],
      transitions: [FIRST_UP, moved(TEN + 45_000, 'up', 'down')],
      faults: [{ ...fault('probe-killed', TEN, 5_000, 'us-west'), place: 'us-west-1' }],
    },
    ['late'],
  ],
  [
    'lost hints excuse nothing',
    {
      outages: [outage(TEN, 5 * MIN)],
      transitions: [FIRST_UP, moved(TEN + 45_000, 'up', 'down')],
      faults: [fault('hints-lost', TEN, HOUR, null)],
    },
    ['late'],
  ],
  ['down without an outage', { transitions: [FIRST_UP, moved(TEN, 'up', 'down')] }, ['false down']],
  [
    'down without an outage, seen from one region, and no simulated fault',
    { transitions: [FIRST_UP, moved(TEN, 'up', 'down')] },
    ['false down'],
    ['us-east'],
  ],
  [
    'down long after an outage',
    { outages: [outage(TEN, 10_000)], transitions: [FIRST_UP, moved(TEN + 220_000, 'up', 'down')] },
    ['false down'],
  ],
  [
    'up in the middle of an outage, and down again',
    {
      outages: [outage(TEN, 20 * MIN)],
      transitions: [
        FIRST_UP,
        moved(TEN + 20_000, 'up', 'down'),
        moved(TEN + 5 * MIN, 'down', 'up'),
        moved(TEN + 6 * MIN, 'up', 'down'),
      ],
    },
    ['false up'],
  ],
  [
    'the same outage twice',
    {
      outages: [outage(TEN, 20 * MIN)],
      transitions: [FIRST_UP, moved(TEN + 20_000, 'up', 'down'), moved(TEN + 30_000, 'up', 'down')],
    },
    ['reported twice'],
  ],
  ['degraded without a reason', { transitions: [FIRST_UP, moved(TEN, 'up', 'degraded')] }, ['false degraded']],
  [
    'degraded because the target was',
    { outages: [outage(TEN, 5 * MIN, 'degraded')], transitions: [FIRST_UP, moved(TEN + MIN, 'up', 'degraded')] },
    [],
  ],
]

for (const [title, given, found, regions] of rows) {
  t.test(`the oracle finds ${found.join(', ') || 'nothing wrong'}: ${title}`, async t => {
    const { findings, failures } = judge(hourOf(given, regions))
    t.equal(failures.length, found.length)
    t.same(
      findings.map(({ what }) => what),
      found,
    )
  })
}

const LOSS = fault('region-partial-loss', TEN - 5 * MIN, 6 * MIN, 'us-east')
const DOWN = { transitions: [FIRST_UP, moved(TEN, 'up', 'down')] }
const ONE = ['us-east']

t.test('a false down under partial loss breaks the promise, except where one region cannot know better', async t => {
  t.same(judge(hourOf({ ...DOWN, faults: [LOSS] }, ONE)).failures, ['false down: 1'])
  const causes: [string, Partial<Chronicle>][] = [
    ['at its beginning', { faults: [{ ...LOSS, fromMs: TEN - 20_000 }] }],
    ['no witness', { faults: [LOSS, fault('hints-lost', TEN - MIN, 2 * MIN, null)] }],
    ['probe without a past', { faults: [LOSS, fault('probe-killed', TEN - MIN, 10_000, 'us-east')] }],
  ]
  for (const [cause, given] of causes) {
    const { findings, failures } = judge(hourOf({ ...DOWN, ...given }, ONE))
    t.match(findings, [{ what: 'false down', cause: `partial loss, one region, ${cause}`, isBroken: false }])
    t.same(failures, [])
    t.same(judge(hourOf({ ...DOWN, ...given }, ['us-east', 'eu-west'])).failures, ['false down: 1'], 'with two regions')
  }
})

t.test('while many hosts fail at once, a single region has one more check, and several regions have none', async t => {
  const shared = { ...outage(TEN, 5 * MIN), isShared: true }
  const given = { outages: [shared], transitions: [FIRST_UP, moved(TEN + 60_000, 'up', 'down')] }
  t.same(judge(hourOf(given, ONE)).failures, [])
  t.same(judge(hourOf(given)).failures, ['late: 1'])
})

t.test('a monitor without a probe loses its status in time, and one with a probe never', async t => {
  const gone = fault('region-dead', TEN, 10 * MIN, 'us-east')
  const nulled = (atMs: number) => ({ transitions: [FIRST_UP, moved(atMs, 'up', null)] })
  t.same(judge(hourOf({ ...nulled(TEN + 2 * MIN), faults: [gone] }, ONE)).failures, [], 'in time')
  t.same(judge(hourOf({ transitions: [FIRST_UP], faults: [gone] }, ONE)).failures, ['status kept: 1'])
  t.same(judge(hourOf(nulled(TEN), ONE)).failures, ['false unchecked: 1'])
  const two = hourOf({ ...nulled(TEN + 2 * MIN), faults: [gone] }, ['us-east', 'eu-west'])
  t.same(judge(two).failures, ['false unchecked: 1'], 'another region has one')
})

t.test(
  'a status that is shown again after it was lost does not count as a second report, a new message does',
  async t => {
    const gone = fault('region-dead', TEN + MIN, 10 * MIN, 'us-east')
    const lost = [FIRST_UP, moved(TEN + 30_000, 'up', 'down'), moved(TEN + 3 * MIN, 'down', null)]
    const given = (from: string) => ({
      outages: [outage(TEN, 30 * MIN)],
      transitions: [...lost, moved(TEN + 12 * MIN, from, 'down')],
      faults: [gone],
    })
    t.same(judge(hourOf(given('down'), ONE)).failures, [])
    t.same(judge(hourOf(given('up'), ONE)).failures, ['reported twice: 1'])
  },
)
