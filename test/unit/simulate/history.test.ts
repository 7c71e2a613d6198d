import t from 'tap'
import type { HistoryRecord, RecordedFault, SettingsPeriod } from '../../simulate/oracle/chronicle.ts'
import { createHistoryOracle, type HistoryOracle } from '../../simulate/oracle/history.ts'
import { testSimulated } from '../../support/simulated.ts'

const MIN = 60_000
const ID = 'a monitor'
const END_MS = 2 * 60 * MIN
const KEY = `"${ID}","us-east",1000,0,"a probe",7`
const fault = (kind: string, fromMs: number, toMs: number, place = ''): RecordedFault => ({
  ...{ kind, fromMs, toMs, place },
  ...{ region: null, size: 1 },
})
const period = (fromMs: number, regions: string[]): SettingsPeriod => ({
  ...{ fromMs, regions, intervalS: 30, timeoutMs: 10_000, retryCount: 2, witness: true },
  ...{ isPaused: false, isOtherTarget: false },
})

type Given = { faults?: RecordedFault[]; settings?: SettingsPeriod[] }

function judge(act: (oracle: HistoryOracle) => void, { faults = [], settings }: Given = {}): HistoryRecord {
  const monitors = [{ id: ID, isSlow: false, settings: settings ?? [period(0, ['us-east', 'eu-west'])] }]
  const oracle = createHistoryOracle({ beginMs: 0, monitors, faults })
  act(oracle)
  return oracle.finish(END_MS)
}

const store = (oracle: HistoryOracle, keys = [KEY], sequence = 1) => oracle.stored({ sequence, atMs: 2_000, keys })
const recordAt = (ms: number) => (oracle: HistoryOracle) => {
  store(oracle)
  oracle.recorded([KEY], ms)
  oracle.acknowledged(1, ms)
}
const REDEPLOYED = fault('control-plane-redeployed', 1_000, 41_000)

type Row = [title: string, found: string[], act: (oracle: HistoryOracle) => void, given?: Given]
const rows: Row[] = [
  ['a result that is recorded in time', [], recordAt(6_000)],
  ['a result that is never recorded', ['not in the history'], oracle => store(oracle)],
  ['a result that is recorded after a minute', ['not in the history'], recordAt(2_000 + MIN + 1)],
  [
    'a result that is recorded a minute after a fault of ClickHouse',
    [],
    recordAt(20 * MIN),
    { faults: [fault('clickhouse-away', 0, 19 * MIN)] },
  ],
  [
    'a result that is recorded later',
    ['not in the history'],
    recordAt(20 * MIN + 1),
    { faults: [fault('clickhouse-answers-lost', 0, 19 * MIN)] },
  ],
  [
    'a result that is recorded late during a fault that does not concern the history',
    ['not in the history'],
    recordAt(3 * MIN),
    { faults: [fault('hints-lost', 0, 3 * MIN), fault('postgres-away', 0, 3 * MIN)] },
  ],
  [
    'a result that waits because one process of two ended',
    ['not in the history'],
    recordAt(2 * MIN),
    { faults: [fault('fleet-killed', 1_000, 90_000, 'a')] },
  ],
  [
    'a result that waits because all processes ended',
    [],
    recordAt(2 * MIN),
    { faults: [fault('fleet-killed', 1_000, 90_000, 'a'), fault('fleet-killed', 1_000, 90_000, 'b')] },
  ],
  [
    'a result that waits because all processes started without PostgreSQL',
    [],
    recordAt(5 * MIN),
    { faults: [REDEPLOYED, fault('postgres-away', 3_000, 5 * MIN)] },
  ],
  [
    'a result that the stream forgets before it is recorded',
    ['not in the history'],
    oracle => {
      store(oracle)
      oracle.forgotten(2, 40 * MIN)
      oracle.recorded([KEY], 50 * MIN)
    },
    { faults: [fault('clickhouse-away', 0, 49 * MIN)] },
  ],
  ['a row that no message has', ['unknown row'], oracle => oracle.recorded([KEY], 5_000)],
  [
    'a message that is acknowledged before its rows are stored',
    ['acknowledged early'],
    oracle => {
      store(oracle)
      oracle.acknowledged(1, 3_000)
      oracle.recorded([KEY], 4_000)
    },
  ],
  [
    'a message of which one row is missing',
    ['acknowledged early', 'not in the history'],
    oracle => {
      store(oracle, [KEY, KEY.replace('us-east', 'eu-west')])
      oracle.recorded([KEY], 3_000)
      oracle.acknowledged(1, 3_000)
    },
  ],
  [
    'a result of a region that the monitor left before the check',
    [],
    oracle => store(oracle),
    { settings: [period(-MIN, ['us-east']), period(0, ['eu-west'])] },
  ],
  [
    'a result of a region that the monitor left after the check',
    ['not in the history'],
    oracle => store(oracle),
    { settings: [period(-MIN, ['us-east']), period(1_500, ['eu-west'])] },
  ],
  [
    'the same while the clocks differ',
    [],
    oracle => store(oracle),
    {
      settings: [period(-MIN, ['us-east']), period(1_500, ['eu-west'])],
      faults: [fault('nats-clock-set', 0, 1_000)],
    },
  ],
]

for (const [title, found, act, given] of rows) {
  t.test(`the oracle of the history finds ${found.join(', ') || 'nothing wrong'}: ${title}`, async t => {
    const { violations } = judge(act, given)
    t.same(
      violations.map(({ what }) => what),
      found,
    )
  })
}

t.test('a row that is stored twice counts once, also in two messages and an hour later', async t => {
  const { results, repeated, violations } = judge(oracle => {
    recordAt(3_000)(oracle)
    oracle.recorded([KEY], 4_000)
    store(oracle, [KEY], 2)
    oracle.recorded([KEY], 50 * MIN)
  })
  t.match({ results, repeated }, { results: 1, repeated: 2 })
  t.same(violations, [])
})

t.test('the oracle of the history forgets messages after an hour, and counts all missing results', async t => {
  const { results, missing, violations } = judge(oracle => {
    for (let sequence = 1; sequence <= 100_000; sequence++) {
      const atMs = sequence * 100
      const key = KEY.replace('1000', String(atMs))
      oracle.stored({ sequence, atMs, keys: [key] })
      if (sequence % 100 > 0) oracle.recorded([key], atMs)
      if (sequence === 99_000) oracle.recorded([KEY.replace('1000', '100')], atMs)
    }
  })
  t.equal(results, 99_000)
  t.ok(missing > 900, `${missing} missing`)
  t.match(
    violations.filter(({ what }) => what === 'unknown row'),
    { length: 1 },
    'the first row is no longer remembered',
  )
})

t.test(
  'Three hours of faults of ClickHouse: every result is in the history, and each outage is found in time',
  async t => {
    const { history, faults } = await testSimulated(t, {
      ...{ seed: 1, days: 0.125, monitors: 12, factor: 900 },
      only: ['clickhouse-away', 'clickhouse-answers-lost', 'fleet-killed'],
    })
    t.ok(faults > 4, `${faults} faults`)
    t.ok(history.results > 1_000, `${history.results} results`)
    t.ok(history.redelivered > 0, `${history.redelivered} messages delivered again`)
    t.ok(history.repeated > 0, `${history.repeated} rows stored twice`)
  },
)
