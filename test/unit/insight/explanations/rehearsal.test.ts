import t from 'tap'
import {
  computeDelay,
  findDifference,
  findStatusBefore,
  summarizeOutages,
} from '../../../../control-plane/insight/explanations/rehearsal/periods.ts'
import { createArrivalNotes } from '../../../../control-plane/insight/explanations/rehearsal/reasons.ts'
import { changeAttempt } from '../../../../control-plane/insight/explanations/rehearsal/replay/changed-attempt.ts'
import { createLiveSetHistory } from '../../../../control-plane/insight/explanations/rehearsal/replay/live-set-history.ts'
import { createPolicyHistory } from '../../../../control-plane/insight/explanations/rehearsal/replay/policy-history.ts'
import type {
  StatusStep,
  StoredPolicy,
  StoredStep,
} from '../../../../control-plane/insight/explanations/rehearsal/replay/types.ts'
import { formatOutcome } from '../../../../control-plane/insight/explanations/rehearsal/sentence.ts'
import { FailureSource, Outcome, Trigger } from '../../../../shared/checks/result.ts'
import { createResult } from '../../../support/results.ts'

const NOTHING = { status: null, sinceMs: null, outageSinceMs: null, uncheckedSinceMs: null }
const step = (atMs: number, to: StatusStep['to'], rest: Partial<StoredStep> = {}): StoredStep => ({
  ...{ atMs, to, kind: 'verdict', firstFailureMs: null, knownAtMs: atMs, ...rest },
})

t.test('An outage lasts from down until up, also through degraded and times without checks', async t => {
  const steps = [
    step(10, 'up'),
    step(20, 'degraded', { firstFailureMs: 12 }),
    step(30, 'down', { firstFailureMs: 12 }),
    step(40, 'degraded'),
    step(50, null, { kind: 'unchecked' }),
    step(60, 'down'),
    step(70, 'up'),
    step(80, 'down'),
    step(90, null, { kind: 'removed' }),
    step(95, 'degraded'),
  ]
  t.same(summarizeOutages(NOTHING, steps, { fromMs: 0, toMs: 100 }), {
    outages: [
      { fromMs: 30, toMs: 70, detectedAfterMs: 18 },
      { fromMs: 80, toMs: 90, detectedAfterMs: null },
    ],
    degradations: [
      { fromMs: 20, toMs: 30, detectedAfterMs: 8 },
      { fromMs: 95, toMs: null, detectedAfterMs: null },
    ],
  })
  t.same(
    summarizeOutages(NOTHING, steps, { fromMs: 75, toMs: 85 }).outages,
    [{ fromMs: 80, toMs: null, detectedAfterMs: null }],
    'what ends after the period has not ended in it',
  )
})

t.test('A period begins with the status and the outage that were stored before it', async t => {
  const steps = [step(10, 'up'), step(20, 'down'), step(30, null, { kind: 'unchecked', knownAtMs: 45 }), step(50, 'up')]
  t.same(findStatusBefore(steps, 15), { ...NOTHING, status: 'up', sinceMs: 10 })
  t.match(findStatusBefore(steps, 40), { status: 'down', outageSinceMs: 20, uncheckedSinceMs: null })
  t.match(findStatusBefore(steps, 48), { status: 'down', outageSinceMs: 20, uncheckedSinceMs: 30 })
  const { outages } = summarizeOutages(findStatusBefore(steps, 48), steps.slice(3), { fromMs: 48, toMs: 60 })
  t.same(outages, [{ fromMs: 20, toMs: 50, detectedAfterMs: null }])
})

t.test('Delays compare the outages that overlap', async t => {
  const one = (fromMs: number, toMs: number | null) => ({ fromMs, toMs, detectedAfterMs: null })
  t.equal(computeDelay([one(10, 50), one(100, 200)], [one(30, 60), one(140, null)], 0), 30)
  t.equal(computeDelay([one(10, 50)], [one(60, 70)], 0), null, 'another outage')
  t.equal(computeDelay([one(10, 50)], [one(30, 50)], 20), null, 'it began before the period')
})

t.test('The first difference of two histories is found', async t => {
  const whole = { fromMs: 0, toMs: 100 }
  const steps = [step(10, 'up'), step(20, 'down'), step(30, null, { kind: 'removed' })]
  t.equal(findDifference(steps, steps.slice(0, 2), whole), null, 'losses are inputs')
  t.equal(findDifference(steps, [step(10, 'up'), step(21, 'down')], whole), 20)
  t.equal(findDifference(steps, [step(10, 'up')], whole), 20)
  t.equal(findDifference([step(10, 'up')], [step(10, 'degraded')], whole), 10)
  t.equal(findDifference(steps, [], { fromMs: 25, toMs: 100 }), null, 'outside the period')
})

t.test('The outcome is one sentence', async t => {
  const outcome = (outages: number, degradations = 0) => ({
    outages: Array.from({ length: outages }, () => ({ fromMs: 0, toMs: null, detectedAfterMs: null })),
    degradations: Array.from({ length: degradations }, () => ({ fromMs: 0, toMs: null, detectedAfterMs: null })),
  })
  t.equal(formatOutcome(outcome(4), outcome(2), 40_000), '4 outages become 2, detected 40 seconds later.')
  t.equal(formatOutcome(outcome(1), outcome(0), null), '1 outage becomes none.')
  t.equal(formatOutcome(outcome(2), outcome(2), -10_000), '2 outages, as before, detected 10 seconds earlier.')
  t.equal(formatOutcome(outcome(0), outcome(0, 1), null), 'No outages, as before. No degradations become 1.')
  t.equal(formatOutcome(outcome(1), null, null), 'These settings cannot be rehearsed for this period.')
})

t.test('A result is changed by the settings that can be simulated only', async t => {
  const up = createResult('m', 1_000, { totalUs: 2_500_000 })
  t.equal(changeAttempt('us-east', up, {}), up, 'the same object')
  t.equal(changeAttempt('us-east', up, { regions: ['eu-west'] }), null)
  t.match(changeAttempt('us-east', up, { timeoutMs: 2_000 }), { outcome: Outcome.DOWN, error: { code: 'timeout' } })
  t.equal(changeAttempt('us-east', up, { timeoutMs: 3_000 }), up)
  const unknown = { ...up, outcome: Outcome.UNKNOWN }
  t.equal(changeAttempt('us-east', unknown, { timeoutMs: 2_000 }), unknown, 'a fault of the probe stays one')

  const limit = { type: 'response_time', operator: 'less_than', value: '1000' }
  const failed = { ...limit, value: '2000', actual: '2500' }
  const timed = { ...up, timings: { dnsUs: 0, connectUs: 0, tlsUs: 0, firstByteUs: 2_500_000, transferUs: 0 } }
  t.equal(changeAttempt('us-east', timed, { durations: [limit] })?.outcome, Outcome.DEGRADED)
  const slow = { ...timed, outcome: Outcome.DEGRADED, failedAssertions: [failed] }
  t.equal(changeAttempt('us-east', slow, { durations: [] })?.outcome, Outcome.UP)
  const wrong = { ...timed, outcome: Outcome.DOWN, failedAssertions: [failed, { ...failed, type: 'body' }] }
  t.equal(changeAttempt('us-east', wrong, { durations: [] }), wrong, 'the body stays wrong')
  const pictured = { ...timed, outcome: Outcome.DEGRADED }
  t.equal(changeAttempt('us-east', pictured, { durations: [] }), pictured, 'degraded by a picture')

  const third = { ...up, attempt: 3 }
  t.equal(changeAttempt('us-east', third, { retryCount: 1 }), null, 'a re-check too many')
  t.equal(changeAttempt('us-east', third, { retryCount: 2 }), third)
  const witness = { ...third, trigger: Trigger.WITNESS }
  t.equal(changeAttempt('ap-south', witness, { retryCount: 0, regions: ['us-east'] }), witness)
  const broken = { ...up, outcome: Outcome.DOWN, error: { source: FailureSource.TARGET, code: 'tls', message: '' } }
  t.equal(changeAttempt('us-east', broken, { durations: [] }), broken)
})

t.test('A policy applies from its time, or from the first result of its version', async t => {
  const row = (atMs: number, configVersion: number, rest: Partial<StoredPolicy> = {}): StoredPolicy => ({
    ...{ atMs, configVersion, streaksSince: 1, regions: ['us-east', 'eu-west'], retryCount: configVersion },
    ...{ intervalSeconds: 30, timeoutMs: 5_000, witness: true, isPaused: false, ...rest },
  })
  const none = new Map()
  const rows = [row(100, 1), row(200, 2), row(300, 2, { isPaused: true }), row(400, 3)]
  const history = createPolicyHistory('m', rows, {})
  t.match(history.at(50, 1, none), { configVersion: 1, retryCount: 1 }, 'the first row also applies before it')
  t.match(history.at(150, 1, none), { configVersion: 1, retryCount: 1 })
  t.match(history.at(199, 2, none), { configVersion: 2, retryCount: 2 }, 'the result is newer than the row')
  t.equal(history.countPauses(), 0)
  t.equal(history.at(300, 2, none), null, 'paused')
  t.match(history.at(390, 3, none), { configVersion: 3, retryCount: 3 })
  t.equal(history.countPauses(), 1)
  t.match(history.at(500, 7, none), { configVersion: 7, retryCount: 3 }, 'a change that the rules do not see')
  const changed = createPolicyHistory('m', rows, { retryCount: 5, regions: ['eu-west', 'us-west'], timeoutMs: 60_000 })
  t.match(changed.at(100, 1, none), { retryCount: 5, regions: ['eu-west'], timeoutMs: 30_000 })
  t.equal(createPolicyHistory('m', rows, { regions: ['us-west'] }).at(100, 1, none), null)
  const absent = history.at(501, 7, new Map([['us-east', { fromMs: 490, untilMs: Number.POSITIVE_INFINITY }]]))
  t.equal(absent?.absences?.get('us-east')?.fromMs, 490)
})

t.test('Results of probes that were not live in their epoch do not count', async t => {
  const change = (atMs: number, epoch: number, probeIds: string[], absentFromMs: number | null = null) => ({
    ...{ region: 'us-east', atMs, epoch, probeIds, absentFromMs, absentUntilMs: null },
  })
  const history = createLiveSetHistory([change(100, 5, ['a', 'b']), change(200, 7, ['b']), change(250, 7, ['b'], 245)])
  t.same(history.absencesAt(150), new Map())
  t.ok(history.isAccepted('us-east', 'a', 5))
  t.notOk(history.isAccepted('us-east', 'c', 5))
  t.ok(history.isAccepted('us-east', 'c', 4), 'what is before the first row is unknown')
  t.ok(history.isAccepted('eu-west', 'c', 5), 'so is a region without rows')
  history.absencesAt(210)
  t.ok(history.isAccepted('us-east', 'a', 6), 'of the time in which it was live')
  t.notOk(history.isAccepted('us-east', 'a', 7))
  t.ok(history.isAccepted('us-east', 'b', 6), 'live now')
  t.notOk(history.isAccepted('us-east', 'b', 8), 'an epoch that was not given out')
  t.same(history.absencesAt(260), new Map([['us-east', { fromMs: 245, untilMs: Number.POSITIVE_INFINITY }]]))
})

t.test('Missing inputs are named', async t => {
  const notes = createArrivalNotes(new Map([['us-east', 5]]))
  const attempt = { region: 'us-east', probeId: 'a', takenAtMs: 1_000, sequence: 0, isArrivalStored: false }
  notes.add({ ...attempt, result: createResult('m', 1_000, { epoch: 5 }) })
  t.match(notes.list(), [{ code: 'arrivals_not_stored' }])
  const stored = { ...attempt, isArrivalStored: true, result: createResult('m', 1_000, { epoch: 4 }) }
  notes.add({ ...stored, sequence: 9 })
  notes.add({ ...stored, sequence: 8 })
  t.same(
    notes.list().map(({ code }) => code),
    ['arrivals_not_stored', 'live_sets_not_stored', 'clock_set'],
  )
})
