import t from 'tap'
import { parseSignal } from '../../../../control-plane/verdict/heartbeats/intake/signal.ts'
import { checkOverdue } from '../../../../control-plane/verdict/heartbeats/overdue.ts'
import { applyPing, createPingEffects, markOverdue } from '../../../../control-plane/verdict/heartbeats/ping-effects.ts'
import type { LockedHeartbeat, PingSignal } from '../../../../control-plane/verdict/heartbeats/types.ts'

const id = '0190a0a0-0000-7000-8000-000000000001'
const HOUR = 3_600
const fresh = (changes: object = {}): LockedHeartbeat => ({
  monitor: { id, isHeartbeat: true, configVersion: 1, isPaused: false, interval: 30 * HOUR, grace: HOUR, ...changes },
  heartbeat: { pings: 0, lastPingAtMs: null, lastSuccessAtMs: null, runStartedAtMs: null, dueAtMs: null },
  state: null,
})

const SIGNS: Record<string, PingSignal> = {
  '.': { kind: 'success', exitCode: null },
  '>': { kind: 'start', exitCode: null },
  x: { kind: 'fail', exitCode: null },
  l: { kind: 'log', exitCode: null },
}

/**
 * Runs pings at hours ("0 . 31 ." is a success at 0 and at 31), an overdue worker that looks every hour, a pause (`p`)
 * and a resume (`r`). Answers "up@0 down@31".
 */
function run(text: string, { until = 0, start = fresh() } = {}): string {
  const parts = text.split(' ')
  const steps = new Map(parts.flatMap((sign, i) => (i % 2 === 1 ? [[Number(parts[i - 1]), sign] as const] : [])))
  const statuses: string[] = []
  let watch = start
  for (let hour = 0; hour <= Math.max(until, ...steps.keys()); hour++) {
    const nowMs = 1_800_000_000_000 + hour * HOUR * 1_000
    const sign = steps.get(hour)
    if (sign === 'p') watch = { ...watch, monitor: { ...watch.monitor, isPaused: true }, state: null }
    if (sign === 'r') watch = { ...watch, monitor: { ...watch.monitor, isPaused: false, configVersion: 2 } }
    if (sign && SIGNS[sign]) note(applyPing(createPingEffects(watch), { signal: SIGNS[sign], body: null }, nowMs))
    const finding = watch.heartbeat.dueAtMs === null ? 'wait' : checkOverdue(watch, nowMs)
    if (finding === 'overdue') note(markOverdue(watch, nowMs))
    if (finding === 'disarm') watch = { ...watch, heartbeat: { ...watch.heartbeat, dueAtMs: null } }

    function note(taken: ReturnType<typeof markOverdue>) {
      watch = taken.locked
      statuses.push(...(taken.change?.transitions ?? []).map(({ to }) => `${to}@${hour}`))
    }
  }
  return statuses.join(' ')
}

const RUNS: [title: string, pings: string, until: number, statuses: string][] = [
  ['a heartbeat without a ping is never overdue', '', 500, ''],
  ['30 hours and an hour of grace without a success: down in the 31st, not after 179', '0 .', 179, 'up@0 down@31'],
  ['a success in time extends the deadline', '0 . 30 . 60 .', 90, 'up@0'],
  ['a success in the last hour of grace is in time', '0 . 30 .', 60, 'up@0'],
  ['the next success after an outage is up at once', '0 . 100 .', 130, 'up@0 down@31 up@100'],
  ['a failure is down immediately, and not overdue in addition', '0 . 5 x', 100, 'up@0 down@5'],
  ['a first ping that fails is a first verdict', '0 x', 100, 'down@0'],
  ['a fail after overdue changes nothing', '0 . 50 x 60 .', 60, 'up@0 down@31 up@60'],
  ['a log changes neither the status nor the deadline', '0 l 1 . 20 l', 100, 'up@1 down@32'],
  ['a log alone does not begin the wait', '0 l', 100, ''],
  ['a start alone begins the wait: a job that never ends its first run is overdue', '3 >', 100, 'down@34'],
  ['a start does not change the deadline', '0 . 29 >', 100, 'up@0 down@31'],
  ['repeated starts do not change the deadline', '0 . 10 > 20 > 30 >', 100, 'up@0 down@31'],
  ['a start in an outage changes nothing', '0 x 1 > 100 .', 100, 'down@0 up@100'],
  ['pings are not evaluated during a pause', '0 . 1 p 5 x 9 .', 100, 'up@0'],
  ['a resumed monitor has no deadline before its next ping', '0 . 1 p 10 r', 200, 'up@0'],
  ['a resumed monitor begins again with its next ping', '0 . 1 p 10 r 20 .', 60, 'up@0 up@20 down@51'],
]
for (const [title, pings, until, statuses] of RUNS) {
  t.test(title, async t => {
    t.equal(run(pings, { until }), statuses)
  })
}

t.test('pings of a monitor without an interval are not evaluated', async t => {
  t.equal(run('0 . 1 x', { until: 100, start: fresh({ interval: null }) }), '')
})

t.test('pings with equal times, or from a process whose clock is behind, count in the order of arrival', async t => {
  let taken = createPingEffects(fresh())
  for (const [sign, ms] of [
    ['.', 1_000],
    ['x', 1_000],
    ['.', 400],
    ['x', 1_001],
  ] as const) {
    taken = applyPing(taken, { signal: SIGNS[sign]!, body: null }, ms)
  }
  t.same(
    taken.change?.transitions.map(({ to }) => to),
    ['up', 'down', 'up', 'down'],
  )
  t.same(
    taken.pings.map(({ number, at }) => [number, at.getTime()]),
    [
      [1, 1_000],
      [2, 1_001],
      [3, 1_002],
      [4, 1_003],
    ],
  )
  t.equal(taken.change?.state, taken.locked.state, 'what is stored is the newest state')
})

t.test('a steady success writes nothing to the tables of the verdict', async t => {
  const first = applyPing(createPingEffects(fresh()), { signal: SIGNS['.']!, body: null }, 1_000)
  t.ok(first.change)
  t.equal(applyPing(createPingEffects(first.locked), { signal: SIGNS['.']!, body: null }, 2_000).change, null)
})

t.test('a change earlier in a batch is kept when a steady ping follows', async t => {
  let taken = createPingEffects(fresh())
  for (const ms of [1_000, 2_000]) taken = applyPing(taken, { signal: SIGNS['.']!, body: null }, ms)
  t.match(taken.change?.transitions, [{ to: 'up' }])
})

const SIGNALS: [text: string | undefined, signal: PingSignal | null][] = [
  [undefined, { kind: 'success', exitCode: null }],
  ['0', { kind: 'success', exitCode: 0 }],
  ['1', { kind: 'fail', exitCode: 1 }],
  ['255', { kind: 'fail', exitCode: 255 }],
  ['256', null],
  ['-1', null],
  ['1.0', null],
  ['1e1', null],
  ['', null],
  ['Start', null],
  ['overdue', null],
]
for (const [text, signal] of SIGNALS) {
  t.test(`…/${text ?? ''} is ${signal ? signal.kind : 'not a ping'}`, async t => t.same(parseSignal(text), signal))
}

t.test('The deadline of a monitor that is no longer a heartbeat is removed', async t => {
  const { locked } = applyPing(createPingEffects(fresh()), { signal: SIGNS['.']!, body: null }, 1_800_000_000_000)
  const later = locked.heartbeat.dueAtMs!
  t.equal(checkOverdue(locked, later), 'overdue')
  t.equal(checkOverdue({ ...locked, monitor: { ...locked.monitor, isHeartbeat: false } }, later), 'disarm')
})

t.test('The deadline after a queued ping counts from when it is stored, because later ones may be queued', async t => {
  const nowMs = 1_800_000_000_000
  for (const dueAtMs of [nowMs + HOUR * 1_000, null]) {
    const watch = { ...fresh(), heartbeat: { ...fresh().heartbeat, dueAtMs } }
    const arrival = { signal: SIGNS['.']!, body: null, id, isKept: true }
    const { locked } = applyPing(createPingEffects(watch), arrival, nowMs - 40 * HOUR * 1_000, nowMs)
    t.equal(locked.heartbeat.dueAtMs, nowMs + 31 * HOUR * 1_000)
  }
})

t.test('After the clock was set back, deadlines count from the arrival, and queued pings count', async t => {
  const nowMs = 1_800_000_000_000
  const withPingAt = (ms: number) => ({
    ...fresh(),
    heartbeat: { ...fresh().heartbeat, pings: 1, lastPingAtMs: ms, lastSuccessAtMs: ms },
  })
  const ahead = withPingAt(nowMs + 2 * HOUR * 1_000)
  const success = { signal: SIGNS['.']!, body: null }
  for (const arrival of [success, { ...success, id, isKept: true }]) {
    const { locked, change } = applyPing(createPingEffects(ahead), arrival, nowMs, nowMs)
    t.equal(locked.heartbeat.dueAtMs, nowMs + 31 * HOUR * 1_000)
    t.equal(change?.state.status, 'up')
  }
  const { change } = applyPing(
    createPingEffects(withPingAt(nowMs)),
    { ...success, id, isKept: true },
    nowMs - 5_000,
    nowMs,
  )
  t.equal(change, null, 'it is older than a stored one')
})
