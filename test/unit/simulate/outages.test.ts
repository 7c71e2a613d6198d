import t from 'tap'
import type { Chronicle, CommittedTransition, SettingsPeriod } from '../../simulate/oracle/chronicle.ts'
import { evaluateChronicle } from '../../simulate/oracle/evaluate.ts'
import {
  buildHour,
  FIRST_UP,
  fault,
  ID,
  MIN,
  moved,
  outage,
  type Row,
  settingsFrom,
  TEN,
  testRows,
} from '../../support/simulated-hour.ts'

/** The settings change at this time. */
const changedAt = (...changes: SettingsPeriod[]): Pick<Chronicle, 'monitors'> => ({
  monitors: [{ id: ID, settings: [settingsFrom(0, { isOtherTarget: true }), ...changes], isSlow: false }],
})

/** `up` has to come within 38 s after the end of a `refused` outage, here after 15 minutes. */
const END = TEN + 5 * MIN
const DOWN_IN_TIME = [FIRST_UP, moved(TEN + 30_000, 'up', 'down')]
const ended = (...then: CommittedTransition[]) => ({
  outages: [outage(TEN, 5 * MIN)],
  transitions: [...DOWN_IN_TIME, ...then],
})
const UP_LATE = ended(moved(END + 75_000, 'down', 'up'))
const RECOVERIES: Row[] = [
  ['a monitor that stays down after the outage', ended(), ['recovered late']],
  [
    'a monitor that stays down after the outage, and does not report the next one',
    { ...ended(), outages: [outage(TEN, 5 * MIN), outage(40 * MIN, 5 * MIN)] },
    ['recovered late', 'recovered late'],
  ],
  [
    'a monitor that stays degraded after the outage',
    ended(moved(END + 20_000, 'down', 'degraded')),
    ['recovered late'],
  ],
  [
    'a monitor that stays degraded after its target was degraded',
    { outages: [outage(TEN, MIN, 'degraded')], transitions: [FIRST_UP, moved(TEN + 30_000, 'up', 'degraded')] },
    ['recovered late'],
  ],
  ['up in time', ended(moved(END + 37_000, 'down', 'up')), []],
  ['up after the limit', UP_LATE, ['recovered late']],
  [
    'down that is committed after the end, and stays',
    { outages: [outage(TEN, MIN)], transitions: [FIRST_UP, moved(TEN + 62_000, 'up', 'down')] },
    ['late', 'recovered late'],
  ],
  [
    'up after the limit, because a probe ended',
    {
      ...ended(moved(END + 60_000, 'down', 'up')),
      faults: [{ ...fault('probe-killed', END, 5_000, 'us-east'), place: 'us-east-1' }],
    },
    [],
  ],
  [
    'up after the limit, while hints are lost',
    { ...UP_LATE, faults: [fault('hints-lost', END, MIN, null)] },
    ['recovered late'],
  ],
  [
    'degraded until a region that does not reach the target recovers',
    {
      ...ended(moved(END + 60_000, 'down', 'degraded'), moved(END + 5.5 * MIN, 'degraded', 'up')),
      faults: [fault('region-partial-loss', TEN, 10 * MIN, 'us-east')],
    },
    [],
  ],
  [
    'down until a single region that does not reach the target recovers',
    {
      ...ended(moved(END + 5.5 * MIN, 'down', 'up')),
      faults: [fault('region-partial-loss', TEN, 10 * MIN, 'us-east')],
    },
    ['recovered late'],
  ],
  ['settings that change after the end', { ...UP_LATE, ...changedAt(settingsFrom(END + 37_500)) }, []],
  [
    'settings that change too early to explain it',
    { ...UP_LATE, ...changedAt(settingsFrom(END - 5_000)) },
    ['recovered late'],
  ],
  [
    'a monitor that is paused after the end',
    { ...ended(), ...changedAt(settingsFrom(END + 10_000, { isPaused: true })) },
    [],
  ],
  [
    'a next outage that begins before the limit',
    { ...UP_LATE, ...{ outages: [outage(TEN, 5 * MIN), outage(END + 30_000, 10_000)] } },
    [],
  ],
]

/** These transitions between 1 and 3 minutes after the beginning of an outage of 5 minutes. */
const within = (...path: (string | null)[]): Partial<Chronicle> => ({
  outages: [outage(TEN, 5 * MIN)],
  transitions: [
    ...DOWN_IN_TIME,
    ...path.map((to, i) => moved(TEN + MIN + i * 20_000, i === 0 ? 'down' : path[i - 1]!, to)),
    moved(END + 20_000, path.at(-1)!, 'up'),
  ],
})
const DEGRADED_FIRST = {
  outages: [outage(TEN, MIN)],
  transitions: [
    ...[FIRST_UP, moved(TEN + 25_000, 'up', 'degraded'), moved(TEN + 30_000, 'degraded', 'down')],
    moved(TEN + 80_000, 'down', 'up'),
  ],
}
const INTERRUPTIONS: Row[] = [
  ['degraded while the target fails everywhere', within('degraded'), ['interrupted']],
  ['up soon after down', within('up', 'down'), ['false up', 'reported twice']],
  ['down again after degraded', within('degraded', 'down'), ['interrupted', 'reported twice']],
  [
    'down again after a fault explained the degraded',
    { ...within('degraded', 'down'), faults: [fault('region-dead', TEN, MIN, 'us-east')] },
    [],
  ],
  [
    'degraded while hints are lost',
    { ...within('degraded'), faults: [fault('hints-lost', TEN, MIN, null)] },
    ['interrupted'],
  ],
  ['degraded after a change', { ...within('degraded', 'down'), ...changedAt(settingsFrom(TEN + 50_000)) }, []],
  ['degraded before down', DEGRADED_FIRST, ['interrupted']],
  [
    'degraded before down, while hints are lost',
    { ...DEGRADED_FIRST, faults: [fault('hints-lost', TEN, MIN, null)] },
    [],
  ],
]

/** A pause from 10 to 20 minutes. */
const PAUSED = changedAt(settingsFrom(TEN, { isPaused: true }), settingsFrom(2 * TEN, { isOtherTarget: true }))
const PAUSES: Row[] = [
  [
    'an outage that begins during a pause and goes on after it',
    { ...PAUSED, outages: [outage(2 * TEN - MIN, 5 * MIN)], transitions: [FIRST_UP] },
    ['missed'],
  ],
  [
    'the same, reported in time after the resume',
    {
      ...{ ...PAUSED, outages: [outage(2 * TEN - MIN, 5 * MIN)] },
      transitions: [FIRST_UP, moved(2 * TEN + 36_000, null, 'down'), moved(24.5 * MIN, 'down', 'up')],
    },
    [],
  ],
  [
    'the same, reported late after the resume',
    {
      ...{ ...PAUSED, outages: [outage(2 * TEN - MIN, 5 * MIN)] },
      transitions: [FIRST_UP, moved(2 * TEN + 45_000, null, 'down'), moved(24.5 * MIN, 'down', 'up')],
    },
    ['late'],
  ],
  [
    'an outage that ends soon after the resume',
    { ...PAUSED, outages: [outage(2 * TEN - MIN, MIN + 20_000)], transitions: [FIRST_UP] },
    [],
  ],
  [
    'an outage that was long enough before the pause',
    { ...PAUSED, outages: [outage(TEN - MIN, 5 * MIN)], transitions: [FIRST_UP] },
    ['missed'],
  ],
  [
    'an outage that was too short before the pause',
    { ...PAUSED, outages: [outage(TEN - 36_000, 5 * MIN)], transitions: [FIRST_UP] },
    [],
  ],
  [
    'an outage that is reported before the pause and after it',
    {
      ...{ ...PAUSED, outages: [outage(TEN - MIN, 15 * MIN)] },
      transitions: [
        ...[FIRST_UP, moved(TEN - 30_000, 'up', 'down'), moved(2 * TEN + 30_000, null, 'down')],
        moved(24.5 * MIN, 'down', 'up'),
      ],
    },
    [],
  ],
]

const LONG = { outages: [outage(TEN, 5 * MIN)] }
const EXCUSES: Row[] = [
  [
    'an outage that is shorter than 1.5 intervals, and long enough',
    { outages: [outage(TEN, 40_000)], transitions: [FIRST_UP] },
    ['missed'],
  ],
  [
    'down long after an outage, and a short fault in between',
    {
      ...{ outages: [outage(TEN, 10_000)], transitions: [FIRST_UP, moved(TEN + 310_000, 'up', 'down')] },
      faults: [fault('nats-away', TEN + 130_000, 10_000, null)],
    },
    ['false down'],
  ],
  [
    'down after a fault that held the results for so long',
    {
      ...{ outages: [outage(TEN, 10_000)], transitions: [FIRST_UP, moved(TEN + 310_000, 'up', 'down')] },
      faults: [fault('nats-away', TEN + 130_000, 2 * MIN, null)],
    },
    [],
  ],
  [
    'a late report after faults of two probes, one long after the other',
    {
      ...{ ...LONG, transitions: [FIRST_UP, moved(TEN + 110_000, 'up', 'down'), moved(END + 20_000, 'down', 'up')] },
      faults: [
        { ...fault('probe-uplink-lost', TEN - 115_000, 5_000, 'us-east'), place: 'us-east-1' },
        { ...fault('probe-uplink-lost', TEN + 20_000, 30_000, 'us-east'), place: 'us-east-2' },
      ],
    },
    ['late'],
    ['us-east'],
  ],
  [
    'a status that is kept while no region has a probe',
    {
      transitions: [FIRST_UP],
      faults: [fault('region-dead', TEN - MIN, 10 * MIN, 'us-east'), fault('region-dead', TEN, 10 * MIN, 'eu-west')],
    },
    ['status kept'],
    ['us-east', 'eu-west'],
  ],
  [
    'a status while one region has a probe again',
    {
      transitions: [FIRST_UP],
      faults: [fault('region-dead', TEN - MIN, 2 * MIN, 'us-east'), fault('region-dead', TEN, 10 * MIN, 'eu-west')],
    },
    [],
    ['us-east', 'eu-west'],
  ],
]

testRows(t, [...RECOVERIES, ...INTERRUPTIONS, ...PAUSES, ...EXCUSES])

t.test('a single attempt that fails may delay a recovery by an interval, but not often', async t => {
  const once = ended(moved(END + 60_000, 'down', 'up'))
  t.same(evaluateChronicle(buildHour(once)).failures, [])
  t.match(evaluateChronicle(buildHour(once)).findings, [{ what: 'recovered late', isBroken: false }])
  const again = [moved(40 * MIN + 30_000, 'up', 'down'), moved(46 * MIN, 'down', 'up')]
  const twice = { outages: [...once.outages, outage(40 * MIN, 5 * MIN)], transitions: [...once.transitions, ...again] }
  t.same(evaluateChronicle(buildHour(twice)).failures, ['recovered an interval later: 2 of 2'])
})
