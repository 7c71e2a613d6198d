import t from 'tap'
import { createMonitorState } from '../../../../control-plane/verdict/core/rules/state.ts'
import type { MonitorState, RegionTally, VerdictStatus } from '../../../../control-plane/verdict/core/types.ts'
import {
  loadMonitor,
  type TrackedMonitors,
} from '../../../../control-plane/verdict/reader/counting/tracked-monitors.ts'
import type { RegionLiveSet } from '../../../../control-plane/verdict/reader/live-sets/live-sets.ts'
import {
  createRegionCoverage,
  findExplainedSinceMs,
  isRegionGone,
  type RegionCoverage,
  updateRegionCoverage,
} from '../../../../control-plane/verdict/reader/unchecked/region-coverage.ts'
import {
  computeCompleteMs,
  createReaderCoverage,
  findUncheckedMonitors,
  recordRound,
  toRegionStates,
} from '../../../../control-plane/verdict/reader/unchecked/unchecked.ts'

const NOW = 10_000_000
const LIFETIME_MS = 95_000

type Case = {
  status?: VerdictStatus
  votedAgoMs?: number | null
  soundForMs?: number | null
  explainedForMs?: number | null
  touchedAgoMs?: number
  isPaused?: boolean
  intervalSeconds?: number
  unchecked?: MonitorState['unchecked']
}

function watch(memory: TrackedMonitors, id: string, one: Case): void {
  const { status = 'up', votedAgoMs = 600_000, intervalSeconds = 30 } = one
  const votedAtMs = votedAgoMs === null ? null : NOW - votedAgoMs
  const cell: RegionTally = {
    ...{ region: 'us-east', state: 'ok', failures: 0, notUp: 0, better: 0, firstFailure: null, last: null },
    ...{ fence: { configVersion: 1, epoch: 1, scheduledAtMs: 1, attempt: 1 }, secondOpinion: null, votedAtMs },
  }
  const state = { ...createMonitorState(id, 1), status, cells: [cell], unchecked: one.unchecked ?? null }
  const settings = { configVersion: 1, streaksSince: 1, regions: ['us-east'], retryCount: 0, intervalSeconds }
  const row = { id, ...settings, timeoutMs: 5_000, status, isPaused: one.isPaused ?? false, isDeleted: false, state }
  loadMonitor(memory, id, row, { lookedForVersion: 1, isDiscarded: false })
}

/** The silence of us-east is explained from this time on. */
function explainedFrom(atMs: number): RegionCoverage {
  const coverage = createRegionCoverage()
  updateRegionCoverage(coverage, ['us-east'], () => true, atMs)
  return coverage
}

function isFound(one: Case): boolean {
  const { soundForMs = 600_000, explainedForMs = 600_000 } = one
  const memory: TrackedMonitors = new Map()
  watch(memory, 'm', one)
  const coverage = createReaderCoverage()
  coverage.completeSinceMs = soundForMs === null ? null : NOW - soundForMs
  if (one.touchedAgoMs !== undefined) coverage.reloadedMs.set('m', NOW - one.touchedAgoMs)
  const regionCoverage = explainedForMs === null ? createRegionCoverage() : explainedFrom(NOW - explainedForMs)
  const scan = { coverage, regionCoverage, monotonicMs: NOW, logMs: NOW }
  return findUncheckedMonitors(memory, scan, 10).length > 0
}

const rows: [title: string, one: Case, expected: boolean][] = [
  ['no check has counted for three intervals and the timeout', { votedAgoMs: LIFETIME_MS }, true],
  ['the last one is younger', { votedAgoMs: LIFETIME_MS - 1 }, false],
  ['no check of its regions is known', { votedAgoMs: null }, true],
  ['it has no status to lose', { status: null }, false],
  ['it is paused', { isPaused: true }, false],
  ['this reader has not read for as long yet', { soundForMs: LIFETIME_MS - 1 }, false],
  ['this reader does not read now', { soundForMs: null }, false],
  ['the results of its region stopped without a reason that is known', { explainedForMs: null }, false],
  ['the reason is known for a short time only', { explainedForMs: LIFETIME_MS - 1 }, false],
  ['it was edited a moment ago', { touchedAgoMs: 1_000 }, false],
  ['it was edited long ago', { touchedAgoMs: LIFETIME_MS }, true],
  ['its owner was notified already', { unchecked: { sinceMs: 1, isTold: true } }, false],
  ['its owner was not notified yet', { unchecked: { sinceMs: 1, isTold: false } }, true],
]
t.test('monitors without a counted check lose their status', async t => {
  for (const [title, one, expected] of rows) t.equal(isFound(one), expected, title)
})

t.test('every unchecked monitor is stored, however many others cannot be stored', async t => {
  const memory: TrackedMonitors = new Map()
  for (let i = 0; i < 7; i++) watch(memory, `m${i}`, {})
  const coverage = createReaderCoverage()
  coverage.completeSinceMs = 0
  const scan = { coverage, regionCoverage: explainedFrom(0), monotonicMs: NOW, logMs: NOW }
  const next = () =>
    findUncheckedMonitors(memory, scan, 3)
      .map(({ monitorId }) => monitorId)
      .join(' ')
  t.same([next(), next(), next()], ['m0 m1 m2', 'm3 m4 m5', 'm6 m0 m1'])
  memory.delete('m1')
  t.equal(next(), 'm0 m2 m3', 'the place where the scan ended is gone')
  for (const id of ['m0', 'm4', 'm5', 'm6']) memory.delete(id)
  t.same([next(), next()], ['m2 m3', 'm2 m3'])
})

t.test('probes of a monitor that lost its status begin as for a new monitor', async t => {
  const memory: TrackedMonitors = new Map()
  watch(memory, 'm', {})
  const coverage = createReaderCoverage()
  coverage.completeSinceMs = 0
  const scan = { coverage, regionCoverage: explainedFrom(0), monotonicMs: NOW, logMs: NOW }
  const states = findUncheckedMonitors(memory, scan, 1).map(({ state }) => state)
  t.same(toRegionStates(states), [{ monitorId: 'm', region: 'us-east', state: 'pending' }])
})

t.test('the coverage of a reader begins when it is up to date without a gap', async t => {
  const coverage = createReaderCoverage()
  const since = (isUpToDate: boolean, second: number) => {
    recordRound(coverage, isUpToDate, second * 1_000)
    return coverage.completeSinceMs
  }
  t.equal(since(false, 0), null, 'behind')
  t.equal(since(true, 5), 5_000)
  t.equal(since(true, 20), 5_000, 'a round takes 15 s at most')
  t.equal(since(true, 36), 36_000, 'there was a gap')
  t.equal(since(false, 40), null, 'NATS is away')
  t.equal(since(true, 45), 45_000)
})

t.test('missing results of a region are explained while other results arrive or while it has no probe', async t => {
  const coverage = createRegionCoverage()
  let isGone = false
  const since = (second: number, isRecent = false) => {
    if (isRecent) coverage.receivedMs.set('us-east', second * 1_000)
    updateRegionCoverage(coverage, ['us-east'], () => isGone, second * 1_000)
    return findExplainedSinceMs(coverage, 'us-east', 30_000)
  }
  t.equal(since(0), null)
  t.equal(since(10, true), 10_000)
  for (const second of [20, 30, 40, 50, 60]) since(second)
  t.equal(since(70), 10_000, 'a minute ago')
  t.equal(since(72), null, 'its probes live, and nothing comes: results may be lost on the way')
  isGone = true
  t.equal(since(80), 80_000)
  isGone = false
  t.equal(since(90, true), 80_000, 'back without a break')
  t.equal(since(110, true), 110_000, 'no check for 20 s')
})

t.test('a region is gone if no probe is in its live set, or none of them can publish', async t => {
  const live = (until: number): RegionLiveSet => ({ epoch: 2, spans: new Map([['p', [{ from: 1, until }]]]) })
  const absence = (untilMs: number) => new Map([['us-east', { fromMs: 1, untilMs }]])
  t.ok(isRegionGone(undefined, new Map(), 'us-east'))
  t.ok(isRegionGone(live(2), new Map(), 'us-east'))
  t.notOk(isRegionGone(live(Infinity), new Map(), 'us-east'))
  t.ok(isRegionGone(live(Infinity), absence(Infinity), 'us-east'))
  t.notOk(isRegionGone(live(Infinity), absence(2), 'us-east'), 'it was, and is back')
})

t.test('a reader is complete while its rounds go on and what it decided is stored', async t => {
  const coverage = createReaderCoverage()
  t.equal(computeCompleteMs(coverage, null, 0), null, 'not yet')
  recordRound(coverage, true, 5_000)
  t.equal(computeCompleteMs(coverage, null, 5_000), 0)
  t.equal(computeCompleteMs(coverage, 19_000, 20_000), 15_000, 'it counts the next messages')
  t.equal(computeCompleteMs(coverage, 17_000, 20_000), null, 'PostgreSQL does not answer it')
  t.equal(computeCompleteMs(coverage, null, 20_001), null, 'it was blocked')
  recordRound(coverage, true, 20_000)
  t.equal(computeCompleteMs(coverage, null, 21_000), 16_000, 'a short wait for PostgreSQL hides nothing')
  recordRound(coverage, false, 22_000)
  t.equal(computeCompleteMs(coverage, null, 22_000), null, 'NATS is away')
})

const MINUTE_MS = 60_000

/**
 * Whether a monitor that nothing checks is found, after each minute of `minutes`. `receivedAtMs`: when messages of its region
 * arrive, for other monitors. The monitor counted last at 0.
 */
function findMinutesFound(intervalSeconds: number, minutes: number, receivedAtMs: readonly number[]): number[] {
  const memory: TrackedMonitors = new Map()
  watch(memory, 'm', { votedAgoMs: NOW, intervalSeconds })
  const coverage = createReaderCoverage()
  coverage.completeSinceMs = 0
  const regionCoverage = createRegionCoverage()
  const found: number[] = []
  for (let nowMs = 0; nowMs <= minutes * MINUTE_MS; nowMs += 2_000) {
    const arrived = receivedAtMs.filter(atMs => atMs <= nowMs).at(-1)
    if (arrived !== undefined) regionCoverage.receivedMs.set('us-east', arrived)
    updateRegionCoverage(regionCoverage, ['us-east'], () => false, nowMs)
    const scan = { coverage, regionCoverage, monotonicMs: nowMs, logMs: nowMs }
    if (nowMs % MINUTE_MS === 0 && findUncheckedMonitors(memory, scan, 1).length > 0) found.push(nowMs / MINUTE_MS)
  }
  return found
}

/** The times from `from` to `to` in steps, all in ms. */
const every = (stepMs: number, from: number, to: number) =>
  Array.from({ length: Math.floor((to - from) / stepMs) + 1 }, (_, i) => from + i * stepMs)

t.test('a monitor that nothing checks is found in a region with few messages', async t => {
  const until = 40 * MINUTE_MS
  t.equal(findMinutesFound(300, 40, every(120_000, 0, until))[0], 16, 'a message every two minutes')
  const backOff = [0, 60, 180, 420, 720, 1_020, 1_320, 1_620, 1_920, 2_220].map(second => second * 1_000)
  t.equal(findMinutesFound(300, 40, backOff)[0], 16, 'unknown results are repeated after 1, 2 and 4 minutes')
  t.equal(findMinutesFound(300, 40, every(300_000, 0, until))[0], 16, 'one other monitor every five minutes')
  t.equal(findMinutesFound(60, 40, every(62_000, 0, until))[0], 4, 'one other monitor every minute')
  t.equal(findMinutesFound(3_600, 240, every(3_600_000, 0, 240 * MINUTE_MS))[0], 181, 'one every hour')
})

t.test('nothing is found in a region from which nothing, or too little, arrives', async t => {
  for (const intervalSeconds of [30, 300, 3_600]) t.same(findMinutesFound(intervalSeconds, 400, []), [], 'nothing')
  for (const intervalSeconds of [30, 60, 300, 3_600]) {
    const stopMs = intervalSeconds * 1_000
    t.same(findMinutesFound(intervalSeconds, 400, every(10_000, 0, stopMs)), [], 'everything ended when it was due')
  }
  t.same(findMinutesFound(60, 60, every(120_000, 0, 60 * MINUTE_MS)), [], 'less often than it is checked itself')
})

t.test('after a time in which nothing arrived from a region, the wait begins again', async t => {
  const around = (from: number, to: number) => [
    ...every(MINUTE_MS, 0, from * MINUTE_MS),
    ...every(MINUTE_MS, to * MINUTE_MS, 60 * MINUTE_MS),
  ]
  const found = findMinutesFound(300, 60, around(8, 18))
  t.equal(found[0], 34, '3 intervals and the timeout after messages came again')
  t.equal(found.at(-1), 60)
  t.equal(findMinutesFound(300, 60, around(8, 15))[0], 16, 'a silence of up to 1.5 intervals ends nothing')
})
