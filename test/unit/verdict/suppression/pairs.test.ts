import fc from 'fast-check'
import t from 'tap'
import {
  INITIAL_REVIEW_STATE,
  type ReviewState,
  reviewSuppression,
  type SuppressionConditions,
} from '../../../../control-plane/verdict/suppression/review.ts'
import {
  listNotificationsOnRemoval,
  listPendingNotifications,
  type NotifiedStatus,
  type PendingNotification,
  type SuppressedChanges,
  type SuppressedTransition,
  suppressTransition,
} from '../../../../control-plane/verdict/suppression/suppressed.ts'

/** What can happen to a monitor, in any order; `wait` lets time pass in which silences are reviewed. */
type Happening =
  | { kind: 'verdict'; to: SuppressedTransition['to'] }
  | { kind: 'maintenance'; minutes: number }
  | { kind: 'maintenanceEnds' }
  | { kind: 'silence'; minutes: number }
  | { kind: 'silenceEnds' }
  | { kind: 'parent'; isDown: boolean }
  | { kind: 'doubt'; isFailing: boolean }
  | { kind: 'answered' }
  | { kind: 'pause' }
  | { kind: 'wait'; seconds: number }

const happening = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('verdict' as const), to: fc.constantFrom('up', 'down', 'degraded') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('maintenance' as const), minutes: fc.integer({ min: 1, max: 90 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'maintenanceEnds' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('silence' as const), minutes: fc.integer({ min: 1, max: 90 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'silenceEnds' as const }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('parent' as const), isDown: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('doubt' as const), isFailing: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'answered' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'pause' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 600 }) }),
  },
) as fc.Arbitrary<Happening>

const GRACE_MS = 90_000
const DOUBT_MS = 20_000

/** What a receiver got: `up!` is a recovery that ends an outage, `up` one from degraded alone. */
type SentEvent = 'down' | 'up!' | 'up' | 'degraded'

/** One monitor, its silences, and what a receiver of all events gets, on its own clock. */
function createWorld() {
  let nowMs = Date.UTC(2026, 10, 21)
  let status: NotifiedStatus = null
  let isOutage = false
  let [maintenanceUntilMs, silencedUntilMs, isParentDown, isDoubtful, isAnswered] = [0, 0, false, false, false]
  let silence: { withheld: SuppressedChanges; course: ReviewState; dueAtMs: number } | null = null
  const sent: SentEvent[] = []

  const reasons = (): SuppressionConditions => ({
    maintenanceUntil: maintenanceUntilMs > nowMs ? new Date(maintenanceUntilMs) : null,
    silencedUntil: silencedUntilMs > nowMs ? new Date(silencedUntilMs) : null,
    isParentDown,
    parentPendingMs: isDoubtful ? DOUBT_MS : null,
    parentCheckMs: isAnswered ? null : DOUBT_MS,
  })
  const send = (list: PendingNotification[]) => {
    for (const { transition: step, withoutOutage: quietly } of list)
      sent.push(step.to === 'up' && step.wasInOutage && !quietly ? 'up!' : step.to)
  }
  const look = (withheld: SuppressedChanges, course: ReviewState) =>
    reviewSuppression(course, reasons(), { isOutage: withheld.began !== null, graceMs: GRACE_MS }, new Date(nowMs))
  const lookAgain = () => {
    if (silence === null || silence.dueAtMs > nowMs) return
    const finding = look(silence.withheld, silence.course)
    if (finding.kind === 'wait') {
      silence = { withheld: silence.withheld, course: finding, dueAtMs: finding.dueAt.getTime() }
      return
    }
    send(listPendingNotifications(silence.withheld))
    silence = null
  }
  const judge = (to: SuppressedTransition['to']) => {
    if (to === status) return
    const step: SuppressedTransition = { from: status, to, wasInOutage: isOutage, transitionId: '', eventIds: [] }
    isOutage = to === 'down' || (to === 'degraded' && isOutage)
    status = to
    if (step.from === null && to === 'up' && silence === null) return
    const withheld = suppressTransition(silence?.withheld ?? null, step)
    const finding = look(withheld, silence?.course ?? INITIAL_REVIEW_STATE)
    if (finding.kind === 'wait') silence = { withheld, course: finding, dueAtMs: finding.dueAt.getTime() }
    else if (silence) silence = { ...silence, withheld, dueAtMs: nowMs }
    else send([{ transition: step, withoutOutage: false }])
  }
  const pause = () => {
    if (silence) send(listNotificationsOnRemoval(silence.withheld))
    // no UP follows for a known outage that ends by a pause
    if (isOutage && silence?.withheld.outage !== 'untold') sent.push('up!')
    ;[silence, status, isOutage] = [null, null, false]
  }
  const wait = (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      nowMs += 1_000
      lookAgain()
    }
  }
  const happen = (one: Happening) => {
    if (one.kind === 'verdict') judge(one.to)
    if (one.kind === 'maintenance') maintenanceUntilMs = nowMs + one.minutes * 60_000
    if (one.kind === 'maintenanceEnds') maintenanceUntilMs = 0
    if (one.kind === 'silence') silencedUntilMs = nowMs + one.minutes * 60_000
    if (one.kind === 'silenceEnds') silencedUntilMs = 0
    if (one.kind === 'parent') isParentDown = one.isDown
    if (one.kind === 'doubt') isDoubtful = one.isFailing
    if (one.kind === 'answered') isAnswered = true
    if (one.kind === 'pause') pause()
    if (one.kind === 'wait') wait(one.seconds)
  }
  return { happen, wait, sent, now: () => ({ status, isOutage, isSilent: silence !== null }) }
}

/** For a receiver without degradations: never two outages without an end between, never an end without an outage. */
function assertPairs(sent: SentEvent[]): void {
  let isDown = false
  let isDegradedBetween = false
  for (const one of sent) {
    if (one === 'up!' && !isDown) throw new Error(`UP without DOWN: ${sent.join(' ')}`)
    if (one === 'down' && isDown && !isDegradedBetween) throw new Error(`DOWN twice: ${sent.join(' ')}`)
    if (one === 'up' && isDown) throw new Error(`an outage ended as a degradation: ${sent.join(' ')}`)
    if (one === 'down' || one === 'up!') isDown = one === 'down'
    isDegradedBetween = one === 'degraded'
  }
}

t.test('a receiver never gets an UP without a DOWN or a DOWN without its UP', async t => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 40 }), happenings => {
      const world = createWorld()
      for (const one of happenings) {
        world.happen(one)
        assertPairs(world.sent)
      }
    }),
    { numRuns: 3_000 },
  )
  t.pass()
})

t.test('a receiver knows the status when no reason for suppression is left', async t => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 40 }), happenings => {
      const world = createWorld()
      for (const one of happenings) world.happen(one)
      world.happen({ kind: 'maintenanceEnds' })
      world.happen({ kind: 'silenceEnds' })
      world.happen({ kind: 'parent', isDown: false })
      world.wait(30 + (GRACE_MS + DOUBT_MS) / 1_000)
      const { status, isOutage, isSilent } = world.now()
      if (isSilent) throw new Error('still silent')
      const outages = world.sent.filter(one => one === 'down' || one === 'up!')
      if ((outages.at(-1) === 'down') !== isOutage) throw new Error(`missed: ${world.sent.join(' ')} but ${status}`)
      if (status !== null && status !== 'up' && world.sent.at(-1) !== status) throw new Error(`not sent: ${status}`)
    }),
    { numRuns: 3_000 },
  )
  t.pass()
})
