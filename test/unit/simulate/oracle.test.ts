import t from 'tap'
import type { RecordedFault } from '../../simulate/oracle/chronicle.ts'
import { evaluateChronicle } from '../../simulate/oracle/evaluate.ts'
import {
  buildHour,
  FIRST_UP,
  fault,
  HOUR,
  MIN,
  moved,
  outage,
  type Row,
  TEN,
  testRows,
} from '../../support/simulated-hour.ts'

/** `down` so long after the beginning of an outage of 5 minutes, and `up` after its end. */
const reportedAfter = (ms: number) => [FIRST_UP, moved(TEN + ms, 'up', 'down'), moved(TEN + 5.5 * MIN, 'down', 'up')]

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
    'an outage that is shorter than what is guaranteed',
    { outages: [outage(TEN, MIN, 'slow')], transitions: [FIRST_UP] },
    [],
  ],
  [
    'an outage that is reported late',
    { outages: [outage(TEN, 5 * MIN)], transitions: reportedAfter(45_000) },
    ['late'],
  ],
  [
    'a late report because assignments moved to another probe',
    {
      outages: [outage(TEN, 5 * MIN)],
      transitions: reportedAfter(45_000),
      faults: [{ ...fault('probe-killed', TEN, 5_000, 'us-east'), place: 'us-east-1' }],
    },
    [],
  ],
  [
    'a late report during a fault of a probe of another region',
    {
      outages: [outage(TEN, 5 * MIN)],
      transitions: reportedAfter(45_000),
      faults: [{ ...fault('probe-killed', TEN, 5_000, 'us-west'), place: 'us-west-1' }],
    },
    ['late'],
  ],
  [
    'one more check of a single region under partial loss',
    {
      outages: [outage(TEN, 5 * MIN)],
      transitions: reportedAfter(80_000),
      faults: [{ ...fault('probe-partial-loss', TEN - MIN, 5 * MIN, 'us-east'), place: 'us-east-1' }],
    },
    [],
    ['us-east'],
  ],
  [
    'a later report of a single region under partial loss',
    {
      outages: [outage(TEN, 5 * MIN)],
      transitions: reportedAfter(100_000),
      faults: [{ ...fault('probe-partial-loss', TEN - MIN, 5 * MIN, 'us-east'), place: 'us-east-1' }],
    },
    ['late'],
    ['us-east'],
  ],
  [
    'a late report while hints are lost',
    {
      outages: [outage(TEN, 5 * MIN)],
      transitions: reportedAfter(45_000),
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
        moved(TEN + 20.5 * MIN, 'down', 'up'),
      ],
    },
    ['false up', 'reported twice'],
  ],
  [
    'the same outage twice',
    {
      outages: [outage(TEN, 20 * MIN)],
      transitions: [
        FIRST_UP,
        moved(TEN + 20_000, 'up', 'down'),
        moved(TEN + 30_000, 'up', 'down'),
        moved(TEN + 20.5 * MIN, 'down', 'up'),
      ],
    },
    ['reported twice', 'sent twice'],
  ],
  ['degraded without a reason', { transitions: [FIRST_UP, moved(TEN, 'up', 'degraded')] }, ['false degraded']],
  [
    'degraded because the target was',
    {
      outages: [outage(TEN, 5 * MIN, 'degraded')],
      transitions: [FIRST_UP, moved(TEN + MIN, 'up', 'degraded'), moved(TEN + 5.5 * MIN, 'degraded', 'up')],
    },
    [],
  ],
]

testRows(t, rows)

const LOSS = fault('region-partial-loss', TEN - 5 * MIN, 6 * MIN, 'us-east')
const DOWN = { transitions: [FIRST_UP, moved(TEN, 'up', 'down')] }
const ONE = ['us-east']

/** One fault at a probe of each of the other regions. */
const elsewhere = (kind: string, fromMs: number, lastedMs: number) =>
  ['us-west', 'eu-west', 'ap-northeast'].map(region => ({
    ...fault(kind, fromMs, lastedMs, region),
    place: `${region}-1`,
  }))

const excuses: [cause: string, given: RecordedFault[]][] = [
  ['at its beginning', [{ ...LOSS, fromMs: TEN - 20_000 }]],
  ['no witness', [LOSS, fault('hints-lost', TEN - MIN, 2 * MIN, null)]],
  ['no witness', [LOSS, fault('postgres-away', TEN - 20_000, 10_000, null)]],
  ['no witness', [LOSS, ...elsewhere('probe-uplink-lost', TEN - 30_000, MIN)]],
  ['no witness', [LOSS, ...elsewhere('probe-partial-loss', TEN - 3 * MIN, 2 * MIN - 15_000)]],
  ['probe without a history', [LOSS, fault('probe-killed', TEN - MIN, 10_000, 'us-east')]],
  ['probe without a history', [LOSS, fault('probes-redeployed', TEN - 4 * MIN, 5 * MIN, null)]],
]
for (const [cause, faults] of excuses) {
  t.test(`a false down of one region under partial loss is a figure: ${cause}`, async t => {
    const { findings, failures } = evaluateChronicle(buildHour({ ...DOWN, faults }, ONE))
    t.match(findings, [{ what: 'false down', cause: `partial loss, one region, ${cause}`, isBroken: false }])
    t.equal(findings[0]!.faults.length, faults.length, 'all faults are listed')
    t.same(failures, [])
    t.same(
      evaluateChronicle(buildHour({ ...DOWN, faults }, ['us-east', 'eu-west'])).failures,
      ['false down: 1'],
      'with two regions',
    )
  })
}

const noExcuses: [title: string, more: RecordedFault[]][] = [
  ['there was no other fault', []],
  ['one other region had a fault', [fault('region-dead', TEN - MIN, 5 * MIN, 'eu-west')]],
  ['one other region had none', elsewhere('probe-uplink-lost', TEN - 30_000, MIN).slice(1)],
  [
    'the faults of other regions had ended before a witness was requested',
    elsewhere('probe-frozen', TEN - 3 * MIN, 60_000),
  ],
  ['a fault of all regions had ended before', [fault('nats-away', TEN - 3 * MIN, 30_000, null)]],
  ['only acknowledgements were lost', [fault('acks-lost', TEN - MIN, 2 * MIN, null)]],
  ['a clock was set', [fault('nats-clock-set', TEN - MIN, 1_000, null)]],
  ['one process of the fleet ended', [fault('fleet-killed', TEN - MIN, 30_000, null)]],
  ['its probe restarted long before', [fault('probe-killed', TEN - 3 * MIN, 10_000, 'us-east')]],
  ['one of its probes has not restarted yet', [fault('probe-host-dead', TEN - MIN, 10 * MIN, 'us-east')]],
  ['its probe was disconnected from the control plane', [fault('probe-fleet-cut', TEN - MIN, 10_000, 'us-east')]],
]
for (const [title, more] of noExcuses) {
  t.test(`a false down of one region under partial loss is a violation when ${title}`, async t => {
    const { failures, findings } = evaluateChronicle(buildHour({ ...DOWN, faults: [LOSS, ...more] }, ONE))
    t.same(failures, ['false down: 1'])
    t.match(findings, [{ cause: 'partial loss, one region', isBroken: true }])
  })
}

t.test('a monitor that forbids witnesses may be down under partial loss', async t => {
  const given = buildHour({ ...DOWN, faults: [LOSS] }, ONE)
  const [monitor] = given.monitors
  const settings = monitor!.settings.map(one => ({ ...one, witness: false }))
  const { failures, findings } = evaluateChronicle({ ...given, monitors: [{ ...monitor!, settings }] })
  t.match(findings, [{ cause: 'partial loss, one region, no witness' }])
  t.same(failures, [])
})

t.test('while many hosts fail together, a single region has one more check, and several regions have none', async t => {
  const shared = { ...outage(TEN, 5 * MIN), isShared: true }
  const given = { outages: [shared], transitions: reportedAfter(60_000) }
  t.same(evaluateChronicle(buildHour(given, ONE)).failures, [])
  t.same(evaluateChronicle(buildHour(given)).failures, ['late: 1'])
})

t.test('a target counts as slow for the next 100 answers, however long it does not answer in between', async t => {
  const slow = { ...outage(2 * MIN, 5_000, 'slow') }
  const hanging = outage(54 * MIN, 4 * MIN, 'hanging')
  const down = { transitions: [FIRST_UP, moved(54 * MIN + 55_000, 'up', 'down'), moved(58.5 * MIN, 'down', 'up')] }
  t.same(evaluateChronicle(buildHour({ ...down, outages: [slow, hanging] })).failures, ['late: 1'])
  const refused = outage(20 * MIN, 5 * MIN)
  const [, ...rest] = down.transitions
  const reported = [FIRST_UP, moved(20 * MIN + 30_000, 'up', 'down'), moved(25 * MIN + 30_000, 'down', 'up'), ...rest]
  t.same(evaluateChronicle(buildHour({ outages: [slow, refused, hanging], transitions: reported })).failures, [])
})

t.test('a monitor without a probe loses its status in time, and a monitor with a probe keeps it', async t => {
  const gone = fault('region-dead', TEN, 10 * MIN, 'us-east')
  const nulled = (atMs: number) => ({ transitions: [FIRST_UP, moved(atMs, 'up', null)] })
  t.same(evaluateChronicle(buildHour({ ...nulled(TEN + 2 * MIN), faults: [gone] }, ONE)).failures, [], 'in time')
  t.same(evaluateChronicle(buildHour({ transitions: [FIRST_UP], faults: [gone] }, ONE)).failures, ['status kept: 1'])
  t.same(evaluateChronicle(buildHour(nulled(TEN), ONE)).failures, ['false unchecked: 1'])
  const two = buildHour({ ...nulled(TEN + 2 * MIN), faults: [gone] }, ['us-east', 'eu-west'])
  t.same(evaluateChronicle(two).failures, ['false unchecked: 1'], 'another region has a probe')
})

t.test(
  'a status that is shown again after it was lost does not count as a second report, a new message does',
  async t => {
    const gone = fault('region-dead', TEN + MIN, 10 * MIN, 'us-east')
    const lost = [FIRST_UP, moved(TEN + 30_000, 'up', 'down'), moved(TEN + 3 * MIN, 'down', null)]
    const given = (from: string) => ({
      outages: [outage(TEN, 30 * MIN)],
      transitions: [...lost, moved(TEN + 12 * MIN, from, 'down'), moved(TEN + 30.5 * MIN, 'down', 'up')],
      faults: [gone],
    })
    t.same(evaluateChronicle(buildHour(given('down'), ONE)).failures, [])
    t.same(evaluateChronicle(buildHour(given('up'), ONE)).failures, ['reported twice: 1', 'sent twice: 1'])
  },
)

const degradedBy = (...named: string[]) => [FIRST_UP, { ...moved(TEN, 'up', 'degraded'), named }]
for (const [title, named, isFigure] of [
  ['names the region that disagrees', ['us-east'], true],
  ['names another region', ['eu-west'], false],
  ['names nothing', [], false],
] as const) {
  t.test(`a false degraded is ${isFigure ? 'a figure' : 'a violation'} when its sentence ${title}`, async t => {
    const hour = buildHour({ transitions: degradedBy(...named), faults: [LOSS] })
    const { failures } = evaluateChronicle({ ...hour, checks: 1_000_000 })
    t.same(failures, isFigure ? [] : ['unexplained: 1'])
  })
}

t.test('a degraded target needs a sentence that names the region, too', async t => {
  const outages = [outage(TEN - MIN, 5 * MIN, 'degraded')]
  const until = (named: string[]) => [...degradedBy(...named), moved(TEN + 4.5 * MIN, 'degraded', 'up')]
  t.same(evaluateChronicle(buildHour({ transitions: until(['eu-west']), outages })).failures, [])
  t.same(evaluateChronicle(buildHour({ transitions: until([]), outages })).failures, ['unexplained: 1'])
})
