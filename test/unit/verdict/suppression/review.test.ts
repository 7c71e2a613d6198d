import t from 'tap'
import {
  INITIAL_REVIEW_STATE,
  type ReviewState,
  reviewSuppression,
  type SuppressionConditions,
} from '../../../../control-plane/verdict/suppression/review.ts'

const START = Date.UTC(2026, 10, 21, 2)
const at = (seconds: number) => new Date(START + seconds * 1_000)
const NOTHING: SuppressionConditions = {
  maintenanceUntil: null,
  silencedUntil: null,
  isParentDown: false,
  parentPendingMs: null,
  parentCheckMs: null,
}
const GRACE_MS = 90_000

type Row = [
  title: string,
  course: Partial<ReviewState>,
  reasons: Partial<SuppressionConditions>,
  seconds: number,
  expected: string,
]

/** What is found at a time, as the reason and the second at which it is looked at again. */
const ROWS: Row[] = [
  ['no reason is left', {}, {}, 0, 'send'],
  ['the end of maintenance is the next review', {}, { maintenanceUntil: at(20) }, 0, 'maintenance 20'],
  ['a long maintenance is reviewed in between', {}, { maintenanceUntil: at(9_999) }, 100, 'maintenance 130'],
  ['a parent that is down', {}, { isParentDown: true }, 0, 'parent 30'],
  ['maintenance has priority over the parent', {}, { isParentDown: true, maintenanceUntil: at(5) }, 0, 'maintenance 5'],
  ['the end of a silence is the next review', {}, { silencedUntil: at(20) }, 0, 'silenced 20'],
  ['a long silence is reviewed in between', {}, { silencedUntil: at(9_999) }, 100, 'silenced 130'],
  [
    'maintenance has priority over a silence',
    {},
    { silencedUntil: at(5), maintenanceUntil: at(20) },
    0,
    'maintenance 20',
  ],
  ['a silence has priority over the parent', {}, { isParentDown: true, silencedUntil: at(5) }, 0, 'silenced 5'],
  ["a parent that is up again leaves time for the monitor's own checks", { isParentDown: true }, {}, 0, 'grace 30'],
  ['this time is not extended', { graceUntil: at(90) }, {}, 80, 'grace 90'],
  ['this time ends', { graceUntil: at(90) }, {}, 90, 'send'],
  [
    'a parent that goes down during this time is waited for',
    { graceUntil: at(90) },
    { isParentDown: true },
    50,
    'parent 80',
  ],
  ['a parent that fails and is not down yet', {}, { parentPendingMs: 7_000 }, 0, 'doubt 1'],
  [
    'a failing parent is waited for as long as it may need',
    { doubtUntil: at(7) },
    { parentPendingMs: 7_000 },
    6.5,
    'doubt 7',
  ],
  ['a failing parent is not waited for longer', { doubtUntil: at(7) }, { parentPendingMs: 7_000 }, 7, 'send'],
  ['a parent that has to be checked', {}, { parentCheckMs: 7_000 }, 0, 'doubt 1'],
  ['a parent that was checked and is up', { isAnswered: true, doubtUntil: at(7) }, { parentCheckMs: 7_000 }, 1, 'send'],
  [
    'a parent that was up and fails',
    { isAnswered: true, doubtUntil: at(7) },
    { parentCheckMs: 7_000, parentPendingMs: 7_000 },
    1,
    'doubt 2',
  ],
  ['a failing parent is waited for after maintenance as well', {}, { parentPendingMs: 7_000 }, 500, 'doubt 501'],
]

for (const [title, course, reasons, seconds, expected] of ROWS) {
  t.test(title, async t => {
    const options = { isOutage: true, graceMs: GRACE_MS }
    const finding = reviewSuppression(
      { ...INITIAL_REVIEW_STATE, ...course },
      { ...NOTHING, ...reasons },
      options,
      at(seconds),
    )
    const found = finding.kind === 'send' ? 'send' : `${finding.reason} ${(finding.dueAt.getTime() - START) / 1_000}`
    t.equal(found, expected)
  })
}

t.test('a recovery or degradation does not wait for a failing parent', async t => {
  const finding = reviewSuppression(
    INITIAL_REVIEW_STATE,
    { ...NOTHING, parentPendingMs: 7_000 },
    { isOutage: false, graceMs: 0 },
    at(0),
  )
  t.equal(finding.kind, 'send')
})

t.test('the grace period starts after an outage of the parent, and continues in maintenance', async t => {
  const options = { isOutage: true, graceMs: GRACE_MS }
  const down = reviewSuppression(INITIAL_REVIEW_STATE, { ...NOTHING, isParentDown: true }, options, at(0))
  t.match(down, { isParentDown: true, graceUntil: null })
  const back = reviewSuppression(down as ReviewState, NOTHING, options, at(10))
  t.match(back, { isParentDown: false, graceUntil: at(100) })
  const inMaintenance = reviewSuppression(
    back as ReviewState,
    { ...NOTHING, maintenanceUntil: at(60) },
    options,
    at(20),
  )
  t.match(inMaintenance, { reason: 'maintenance', graceUntil: at(100) }, 'the grace goes on in maintenance')
})
