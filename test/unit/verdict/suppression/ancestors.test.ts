import t from 'tap'
import {
  type Ancestor,
  buildSuppressionConditions,
  findCause,
  isFoundHealthy,
} from '../../../../control-plane/verdict/suppression/ancestors.ts'
import {
  type CheckTiming,
  computeGraceMs,
  computeParentPendingMs,
} from '../../../../control-plane/verdict/suppression/timing.ts'

const PACE: CheckTiming = {
  intervalSeconds: 60,
  timeoutMs: 5_000,
  retryCount: 2,
  heartbeatInterval: null,
  isHeartbeat: false,
}
const ancestor = (ancestorId: string, more: Partial<Ancestor> = {}): Ancestor => ({
  ...PACE,
  monitorId: 'child',
  ancestorId,
  distance: 1,
  status: 'up',
  isFailing: false,
  isAskable: true,
  ...more,
})

t.test('the cause of an outage is the nearest ancestor that is down', async t => {
  const near = ancestor('near', { distance: 1, status: 'down' })
  const far = ancestor('far', { distance: 2, status: 'down' })
  t.equal(findCause([far, near]), 'near')
  t.equal(findCause([far, ancestor('near')]), 'far')
  t.equal(findCause([ancestor('b', { status: 'down' }), ancestor('a', { status: 'down' })]), 'a', 'always the same one')
  t.equal(findCause([ancestor('near', { status: 'degraded' })]), null)
})

t.test('ancestors determine the conditions of suppression', async t => {
  const quick = { retryCount: 0, timeoutMs: 1_000 }
  const rows: [string, Ancestor[], object][] = [
    ['none', [], { isParentDown: false, parentPendingMs: null, parentCheckMs: null }],
    ['an ancestor that is up', [ancestor('a')], { isParentDown: false, parentPendingMs: null, parentCheckMs: 24_000 }],
    ['an ancestor that is down', [ancestor('a', { status: 'down' })], { isParentDown: true }],
    ['the slowest ancestor counts', [ancestor('a', quick), ancestor('b')], { parentCheckMs: 24_000 }],
    ['a heartbeat cannot be checked on request', [ancestor('a', { isAskable: false })], { parentCheckMs: null }],
    [
      'the slowest failing ancestor counts',
      [ancestor('a', { ...quick, isFailing: true }), ancestor('b')],
      { parentPendingMs: 6_000 },
    ],
  ]
  for (const [title, ancestors, expected] of rows)
    t.match(buildSuppressionConditions(ancestors, null, null), expected, title)
})

t.test('the settings determine how long a monitor may need to go down and to recover', async t => {
  const rows: [string, Partial<CheckTiming>, number, number][] = [
    ['the pauses and attempts of its re-checks', {}, 24_000, 80_000],
    ['without re-checks', { retryCount: 0 }, 10_000, 80_000],
    ['at most a minute', { timeoutMs: 60_000, retryCount: 5 }, 60_000, 190_000],
    [
      'a timeout above the interval is cut to it',
      { timeoutMs: 60_000, intervalSeconds: 30, retryCount: 0 },
      35_000,
      100_000,
    ],
    ['a heartbeat has its own interval', { isHeartbeat: true, heartbeatInterval: 600 }, 24_000, 600_000],
    [
      'the grace of a heartbeat is at most about an hour',
      { isHeartbeat: true, heartbeatInterval: 86_400 },
      24_000,
      3_730_000,
    ],
  ]
  for (const [title, pace, parentPendingMs, graceMs] of rows) {
    t.equal(computeParentPendingMs({ ...PACE, ...pace }), parentPendingMs, `${title}: down`)
    t.equal(computeGraceMs({ ...PACE, ...pace }), graceMs, `${title}: back`)
  }
})

t.test('a check on request finds an ancestor healthy when a region has a result and none fails', async t => {
  t.equal(isFoundHealthy(['up']), true)
  t.equal(isFoundHealthy(['degraded', 'unknown']), true)
  t.equal(isFoundHealthy(['up', 'down']), false)
  t.equal(isFoundHealthy(['unknown', 'missed']), false)
  t.equal(isFoundHealthy([]), false)
})
