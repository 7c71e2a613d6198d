import t from 'tap'
import { evaluateAlerts } from '../../simulate/oracle/alerts.ts'
import type {
  Chronicle,
  CommittedTransition,
  RecordedFault,
  SentNotification,
} from '../../simulate/oracle/chronicle.ts'
import { buildHour, ID, MIN, settingsFrom } from '../../support/simulated-hour.ts'

const S = 1_000

type Hour = Partial<Chronicle> & { pausedMs?: number }

/** One hour of a monitor with maintenance from minute 10 until minute 20. */
function maintainedHour({ pausedMs, ...given }: Hour): Chronicle {
  const paused = pausedMs === undefined ? [] : [settingsFrom(pausedMs, { isPaused: true })]
  return buildHour({
    monitors: [{ id: ID, settings: [settingsFrom(0), ...paused], isSlow: false }],
    windows: [{ monitorId: ID, fromMs: 10 * MIN, toMs: 20 * MIN, storedMs: 0 }],
    notifications: [],
    ...given,
  })
}

/** "9:30 down" as ms and status. */
function parse(text: string): { atMs: number; status: string } {
  const [time = '', status = ''] = text.split(' ')
  const [minute, second] = time.split(':').map(Number)
  return { atMs: minute! * MIN + (second ?? 0) * S, status }
}

/** The transitions of a monitor that was up at first. */
function changed(...texts: string[]): CommittedTransition[] {
  let from: string | null = null
  return ['0:01 up', ...texts].map(text => {
    const { atMs, status } = parse(text)
    const transition = { monitorId: ID, atMs, from, to: status, quorum: 'full', named: ['us-east'] }
    from = status
    return transition
  })
}

const sent = (...texts: string[]): SentNotification[] => texts.map(text => ({ monitorId: ID, ...parse(text) }))
const fault = (kind: string, fromMs: number, lastedMs: number, size = 0): RecordedFault => ({
  ...{ kind, fromMs, toMs: fromMs + lastedMs, place: '', region: null, size },
})

type Row = [title: string, transitions: CommittedTransition[], sent: SentNotification[], found: string[], more?: Hour]
const rows: Row[] = [
  ['an outage outside of maintenance', changed('30 down', '40 up'), sent('30 down', '40 up'), []],
  ['an outage during maintenance', changed('12 down', '15 up'), [], []],
  ['an outage that lasts beyond the end', changed('12 down', '30 up'), sent('20:29 down', '30 up'), []],
  ['an outage that began before', changed('5 down', '15 up'), sent('5 down', '20 up'), []],
  [
    'a known outage that ended, and another one',
    changed('5 down', '12 up', '15 down'),
    sent('5 down', '20 up', '20 down'),
    [],
  ],
  ['a known outage that continues', changed('5 down', '25 up'), sent('5 down', '25 up'), []],
  ['two changes in one commit', changed('30 down', '30 up'), sent('30 down', '30 up'), []],
  ['down in maintenance', changed('12 down', '30 up'), sent('12 down', '30 up'), ['sent in maintenance']],
  ['up in maintenance', changed('5 down', '15 up'), sent('5 down', '15 up'), ['sent in maintenance']],
  ['a withheld outage that is dropped', changed('12 down'), [], ['not sent']],
  ['a withheld outage that is dropped, and then ends', changed('12 down', '30 up'), [], ['not sent']],
  ['a withheld end that is dropped', changed('5 down', '15 up'), sent('5 down'), ['not sent']],
  ['a withheld outage that is sent late', changed('12 down'), sent('20:31 down'), ['sent late']],
  ['a withheld end that is sent late', changed('5 down', '15 up'), sent('5 down', '21 up'), ['sent late']],
  ['another status than the current one', changed('12 down'), sent('20 degraded'), ['not sent']],
  ['an outage outside of maintenance that is not sent', changed('30 down', '40 up'), [], ['not sent']],
  ['an outage outside of maintenance that is sent late', changed('30 down'), sent('30:01 down'), ['sent late']],
  ['an outage before maintenance that is sent after it', changed('9 down'), sent('20 down'), ['sent late']],
  ['a second down', changed('12 down'), sent('20 down', '20:10 down'), ['sent twice']],
  ['a second up', changed('30 down', '40 up'), sent('30 down', '40 up', '40:01 up'), ['sent twice']],
  ['a first up', changed(), sent('0:01 up'), ['up without down']],
  ['the end of an outage that was withheld', changed('12 down', '15 up'), sent('20 up'), ['up without down']],
  ['an outage that has ended', changed('12 down', '15 up'), sent('20 down', '20 up'), ['sent after its end']],
  ['a paused monitor', changed('12 down'), [], [], { pausedMs: 20 * MIN }],
  ['a monitor that is paused too late', changed('12 down'), [], ['not sent'], { pausedMs: 22 * MIN }],
  [
    'the end of a known outage in a pause',
    changed('5 down', '12 up'),
    sent('5 down', '15 up'),
    [],
    { pausedMs: 15 * MIN },
  ],
  [
    'the same in no pause',
    changed('5 down', '12 up'),
    sent('5 down', '15 up'),
    ['sent in maintenance'],
    { pausedMs: 16 * MIN },
  ],
  [
    'maintenance that was stored after the outage',
    changed('12 down'),
    sent('20 down'),
    ['sent late'],
    { windows: [{ monitorId: ID, fromMs: 10 * MIN, toMs: 20 * MIN, storedMs: 13 * MIN }] },
  ],
  [
    'two windows one after the other',
    changed('12 down'),
    sent('30 down'),
    [],
    {
      windows: [
        { monitorId: ID, fromMs: 10 * MIN, toMs: 20 * MIN, storedMs: 0 },
        { monitorId: ID, fromMs: 20 * MIN + 15 * S, toMs: 30 * MIN, storedMs: 0 },
      ],
    },
  ],
  [
    'the maintenance of another monitor',
    changed('12 down'),
    sent('20 down'),
    ['sent late'],
    { windows: [{ monitorId: 'another', fromMs: 10 * MIN, toMs: 20 * MIN, storedMs: 0 }] },
  ],
  [
    'a clock that is ahead',
    changed('12 down'),
    sent('15 down'),
    [],
    { faults: [fault('postgres-clock-set', 4 * MIN, S, 5 * MIN)] },
  ],
  [
    'the end by the true time',
    changed('12 down'),
    sent('20 down'),
    ['sent late'],
    { faults: [fault('postgres-clock-set', 4 * MIN, S, 5 * MIN)] },
  ],
  [
    'a clock that is behind',
    changed('22 down'),
    sent('25 down'),
    [],
    { faults: [fault('postgres-clock-set', 4 * MIN, S, -5 * MIN)] },
  ],
  [
    'a clock that is set during maintenance',
    changed('12 down'),
    sent('24 down'),
    [],
    { faults: [fault('postgres-clock-set', 15 * MIN, S, -4 * MIN)] },
  ],
  [
    'a clock that is set to the end',
    changed('12 down'),
    sent('17 down'),
    ['sent late'],
    { faults: [fault('postgres-clock-set', 15 * MIN, S, 5 * MIN)] },
  ],
  [
    'PostgreSQL away at the end',
    changed('12 down'),
    sent('23 down'),
    [],
    { faults: [fault('postgres-away', 19 * MIN, 3 * MIN)] },
  ],
  [
    'PostgreSQL away until long before',
    changed('12 down'),
    sent('24 down'),
    ['sent late'],
    { faults: [fault('postgres-away', 19 * MIN, 3 * MIN)] },
  ],
  [
    'no process at the end',
    changed('12 down'),
    sent('20:49 down'),
    [],
    { faults: [fault('fleet-killed', 20 * MIN, MIN)] },
  ],
  [
    'NATS away at the end',
    changed('12 down'),
    sent('20:49 down'),
    ['sent late'],
    { faults: [fault('nats-away', 20 * MIN, MIN)] },
  ],
]

for (const [title, transitions, notifications, found, more] of rows) {
  t.test(`the oracle finds ${found.join(', ') || 'nothing wrong'} about alerts: ${title}`, async t => {
    const { findings } = evaluateAlerts(maintainedHour({ transitions, notifications, ...more }))
    t.same(
      findings.map(({ what }) => what),
      found,
    )
  })
}

t.test('withheld changes and those that were sent later are counted', async t => {
  const transitions = changed('5 down', '12 up', '15 down', '30 up', '40 degraded')
  const notifications = sent('5 down', '20 up', '20 down', '30 up', '40 degraded')
  const { figures } = evaluateAlerts(maintainedHour({ transitions, notifications }))
  t.same(figures, { windows: 1, withheld: 2, sentLater: 2 })
})
