import t from 'tap'
import { evaluateChronicle } from '../../simulate/oracle/evaluate.ts'
import {
  buildHour,
  FIRST_UP,
  fault,
  HOUR,
  ID,
  MIN,
  moved,
  outage,
  settingsFrom,
  TEN,
} from '../../support/simulated-hour.ts'

const seenFrom = (...regions: string[]) => ({ ...outage(TEN, 5 * MIN), regions })
const downAfter = (ms: number) => [FIRST_UP, moved(TEN + ms, 'up', 'down'), moved(TEN + 5 * MIN + 20_000, 'down', 'up')]
const TWO_REGIONS = seenFrom('us-east', 'eu-west')
const FEW = seenFrom('us-east', 'us-west')
const gone = (region: string) => fault('region-dead', TEN - MIN, 10 * MIN, region)
const loss = (region: string) => fault('region-partial-loss', TEN - MIN, 5 * MIN, region)

const rows: [title: string, given: Parameters<typeof buildHour>[0], failures: string[]][] = [
  [
    'two of three regions see an outage that is reported',
    { outages: [TWO_REGIONS], transitions: downAfter(30_000) },
    [],
  ],
  [
    'two of three regions see an outage that is not reported',
    { outages: [TWO_REGIONS], transitions: [FIRST_UP] },
    ['missed: 1'],
  ],
  [
    'two of three regions see an outage that is reported late',
    { outages: [TWO_REGIONS], transitions: downAfter(45_000) },
    ['late: 1'],
  ],
  [
    'two of three regions see an outage of many hosts: one more check',
    { outages: [{ ...TWO_REGIONS, isShared: true }], transitions: downAfter(60_000) },
    [],
  ],
  [
    'two of three regions see an outage of many hosts: two more checks',
    { outages: [{ ...TWO_REGIONS, isShared: true }], transitions: downAfter(70_000) },
    ['late: 1'],
  ],
  [
    'a region that sees an outage has no probe, and the third one sees the target well',
    { outages: [TWO_REGIONS], transitions: [FIRST_UP], faults: [gone('eu-west')] },
    [],
  ],
  ['one of three regions sees an outage that is not reported', { outages: [FEW], transitions: [FIRST_UP] }, []],
  [
    'one of three regions sees an outage that makes the monitor down',
    { outages: [FEW], transitions: downAfter(30_000) },
    ['false down: 1'],
  ],
  [
    'one of three regions sees an outage, and the others have no probe',
    { outages: [FEW], transitions: downAfter(30_000), faults: [gone('eu-west'), gone('ap-northeast')] },
    [],
  ],
  [
    'one of three regions sees an outage, and a probe of that region ends',
    { outages: [FEW], transitions: downAfter(30_000), faults: [fault('probe-killed', TEN, 10_000, 'us-east')] },
    ['false down: 1'],
  ],
  [
    'two of three regions see an outage that is reported, degraded, and reported again',
    {
      outages: [TWO_REGIONS],
      transitions: [
        FIRST_UP,
        moved(TEN + 30_000, 'up', 'down'),
        moved(TEN + 2 * MIN, 'down', 'degraded'),
        moved(TEN + 3 * MIN, 'degraded', 'down'),
        moved(TEN + 5 * MIN + 20_000, 'down', 'up'),
      ],
    },
    ['reported twice: 1'],
  ],
  [
    'two of three regions see an outage, and the monitor is up in it',
    {
      outages: [TWO_REGIONS],
      transitions: [FIRST_UP, moved(TEN + 30_000, 'up', 'down'), moved(TEN + MIN, 'down', 'up')],
    },
    ['false up: 1'],
  ],
  [
    'one of three regions loses routes',
    { transitions: downAfter(30_000), faults: [loss('us-east')] },
    ['false down: 1'],
  ],
  [
    'two of three regions lose routes at the same time',
    { transitions: downAfter(30_000), faults: [loss('us-east'), loss('eu-west')] },
    ['false down: 1'],
  ],
]
for (const [title, given, failures] of rows) {
  t.test(title, async t => {
    t.same(evaluateChronicle(buildHour(given)).failures, failures)
  })
}

/** A monitor that is checked every `intervalS` seconds. */
const every = (intervalS: number) => [
  { id: ID, settings: [settingsFrom(0, { intervalS, isOtherTarget: true })], isSlow: false },
]

t.test('with a long interval, an outage that has ended explains a first down, and no later one', async t => {
  const isOver = { monitors: every(300), outages: [outage(TEN, 30_000)] }
  const downAt = (from: string | null) => [moved(TEN + 4 * MIN, from, 'down'), moved(TEN + 5 * MIN, 'down', 'up')]
  t.same(evaluateChronicle(buildHour({ ...isOver, transitions: downAt(null) })).failures, [])
  t.same(evaluateChronicle(buildHour({ ...isOver, transitions: [FIRST_UP, ...downAt('up')] })).failures, [
    'false down: 1',
  ])
})

t.test('a down in the next outage is not the report of an outage before it', async t => {
  const [first, second] = [outage(TEN, 5_000), outage(TEN + 25 * MIN, 5 * MIN)]
  const { failures, outages } = evaluateChronicle(
    buildHour({
      endMs: 3 * HOUR,
      ...{ monitors: every(3_600), outages: [second, first] },
      transitions: [FIRST_UP, moved(second.fromMs + 30_000, 'up', 'down'), moved(second.toMs + 20_000, 'down', 'up')],
    }),
  )
  t.same(failures, [])
  t.match(outages, { all: 2, reported: 1, notReported: 1, tooShort: 1 })
})
