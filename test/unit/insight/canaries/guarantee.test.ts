import t from 'tap'
import {
  type CanaryLimits,
  compareWithLimits,
  computeCanaryLimits,
} from '../../../../control-plane/insight/canaries/measurement/guarantee.ts'
import type { OutageMeasurement } from '../../../../control-plane/insight/canaries/measurement/measure.ts'
import {
  DEFAULT_SCHEDULE,
  FAILURE_KINDS,
  type FailureKind,
} from '../../../../control-plane/insight/canaries/schedule.ts'
import { computeDetectionLimits } from '../../../../control-plane/monitoring/monitors/settings/guarantee.ts'

const PACE = { intervalMs: 30_000, timeoutMs: 10_000, retryCount: 2 }
const schedule = (everySeconds: number, kinds: readonly FailureKind[] = FAILURE_KINDS, forSeconds = 180) => ({
  everySeconds,
  forSeconds,
  kinds,
})

t.test('Each kind of planned failure has the limits of the matching outage', async t => {
  const limitsLike = (wanted: string): CanaryLimits => {
    const { transitionMs, messageMs, shortestMs } = computeDetectionLimits(PACE).find(({ kind }) => kind === wanted)!
    return { downWithin: transitionMs / 1_000, messageWithin: messageMs / 1_000, shortest: shortestMs / 1_000 }
  }
  const rows: [FailureKind, string][] = [
    ['status', 'wrong'],
    ['wrong', 'wrong'],
    ['refuse', 'refused'],
    ['slow', 'slow'],
    ['hang', 'hanging'],
  ]
  for (const [kind, wanted] of rows) t.same(computeCanaryLimits(kind, DEFAULT_SCHEDULE, PACE), limitsLike(wanted), kind)
  t.same(computeCanaryLimits('status', DEFAULT_SCHEDULE, PACE), { downWithin: 37, messageWithin: 39, shortest: 35 })
})

t.test('A hanging failure within 100 quick answers after a slow one has the limits of a slow one', async t => {
  const [slow, hanging] = (['slow', 'hang'] as const).map(kind => computeCanaryLimits(kind, DEFAULT_SCHEDULE, PACE))
  t.not(slow!.downWithin, hanging!.downWithin)
  const rows: [ReturnType<typeof schedule>, boolean][] = [
    // status, hang, refuse, slow, wrong: three turns from slow to hang
    [schedule(1_800), false],
    [schedule(1_070), false],
    [schedule(1_069), true],
    [schedule(360), true],
    [schedule(360, ['hang', 'status']), false],
    [schedule(360, ['hang']), false],
    [schedule(3_209, ['slow', 'hang']), true],
    [schedule(3_210, ['slow', 'hang']), false],
    // a closed connection may count as no response
    [schedule(1_694, ['slow', 'refuse', 'hang']), true],
    [schedule(1_695, ['slow', 'refuse', 'hang']), false],
  ]
  for (const [given, isSlow] of rows) {
    t.same(
      computeCanaryLimits('hang', given, PACE),
      isSlow ? slow : hanging,
      `${given.kinds} every ${given.everySeconds} s`,
    )
  }
})

const LIMITS: CanaryLimits = { downWithin: 50, messageWithin: 52, shortest: 48 }
const startedAt = new Date('2026-11-21T10:00:00Z')
const lasting = (seconds: number) => ({ startedAt, endedAt: new Date(startedAt.getTime() + seconds * 1_000) })

/** Seconds until the monitor was down and until the alert arrived; null: never. */
const measured = (down: number | null, message: number | null): OutageMeasurement => ({
  outcome: down !== null && message !== null ? 'reported' : 'missed',
  stages: [
    ...(down === null ? [] : [{ turn: 'down' as const, stage: 'status' as const, seconds: down }]),
    ...(message === null ? [] : [{ turn: 'down' as const, stage: 'alert' as const, seconds: message }]),
    // the detection of the end is not part of the guarantee
    { turn: 'up', stage: 'status', seconds: 500 },
  ],
})

t.test('A planned failure is compared with its limits', async t => {
  const rows: [string, number | null, number | null, number, string, number | null][] = [
    ['in time', 34, 35, 180, 'kept', null],
    ['at the limits', 50, 52, 180, 'kept', null],
    ['down too late', 50.5, 51, 180, 'missed', 0.5],
    ['reported too late', 50, 53, 180, 'missed', 1],
    ['both too late', 60, 65, 180, 'missed', 13],
    ['never down', null, null, 180, 'missed', null],
    ['never reported', 34, null, 180, 'missed', null],
    ['never down, and just long enough', null, null, 48, 'missed', null],
    ['never down, and too short', null, null, 47, 'none', null],
    ['too short, and noticed all the same', 20, 21, 30, 'kept', null],
    ['too short, noticed, and too late', 20, 60, 30, 'missed', 8],
    ['too short, noticed, and never reported', 20, null, 30, 'missed', null],
  ]
  for (const [what, down, message, seconds, guarantee, lateSeconds] of rows) {
    t.same(compareWithLimits(lasting(seconds), measured(down, message), LIMITS, true), { guarantee, lateSeconds }, what)
  }
})

t.test('A canary that was paused or not up when it failed has no guarantee', async t => {
  const none = { guarantee: 'none', lateSeconds: null }
  t.same(compareWithLimits(lasting(180), measured(60, 70), LIMITS, false), none)
  t.same(compareWithLimits(lasting(180), { outcome: 'unmeasured', stages: [] }, LIMITS, true), none)
})
