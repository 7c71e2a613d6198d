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
    'down without an outage, seen from one region, and no fault of ours',
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

t.test('with one region a false down under partial loss is a figure, and with two a broken promise', async t => {
  const given = {
    transitions: [FIRST_UP, moved(TEN, 'up', 'down')],
    faults: [fault('region-partial-loss', TEN - MIN, MIN, 'us-east')],
  }
  const alone = judge(hourOf(given, ['us-east']))
  t.match(alone.findings, [{ what: 'false down', cause: 'partial loss, one region', isBroken: false }])
  t.same(alone.failures, [])
  t.same(judge(hourOf(given, ['us-east', 'eu-west'])).failures, ['false down: 1'])
})
