import fc from 'fast-check'
import t from 'tap'
import { decide } from '../../../control-plane/verdict/decide.ts'
import { newMonitorState, restore } from '../../../control-plane/verdict/state.ts'
import type { Counted, Decision, MonitorState, Policy } from '../../../control-plane/verdict/types.ts'
import { Outcome, Trigger } from '../../../proto/gen/probe/v1/result.ts'
import { type Arrival, type Judged, judgeAll, STEP_MS } from './reference.ts'
import { asStored, policyOf, REGIONS, resultOf, START_MS } from './runs.ts'

const SEED = Number(process.env.VERDICT_SEED ?? Date.now() % 2 ** 31)
const RUNS = 2000
const ALL = ['us', 'eu', 'ap', 'uw', 'ec'].map(name => REGIONS[name]!)
const ASKED = [Trigger.SECOND_OPINION, Trigger.OTHER_PROBE, Trigger.ASIDE, Trigger.OTHER_PROBE]
const { UP, DOWN, DEGRADED, UNKNOWN, MISSED } = Outcome

/** What happens next, in numbers that shrink well. `order` and `event` choose among the common and the odd. */
const step = fc.record({
  waitSteps: fc.constantFrom(0, 0, 1, 1, 1, 2, 3, 6, 6, 15, 70),
  region: fc.constantFrom(0, 0, 0, 0, 0, 1, 1, 2, 3, 4),
  outcome: fc.constantFrom(UP, UP, UP, DOWN, DOWN, DOWN, DOWN, DEGRADED, DEGRADED, UNKNOWN, MISSED),
  order: fc.constantFrom('slot', 'slot', 'slot', 'slot', 'recheck', 'recheck', 'late', 'future', 'again'),
  event: fc.constantFrom('', '', '', '', '', '', '', 'handover', 'cutoff', 'opinion', 'opinion', 'restart', 'config'),
  pick: fc.nat(1000),
})
const world = fc.record({
  regions: fc.integer({ min: 1, max: 5 }),
  retryCount: fc.constantFrom(0, 1, 2, 2, 5),
  /** how often a step keeps the outcome of the step before: real outages last */
  stickiness: fc.nat(3),
  steps: fc.array(step, { minLength: 10, maxLength: 100, size: 'max' }),
})
type World = typeof world extends fc.Arbitrary<infer W> ? W : never
type Step = World['steps'][number]

t.test(
  `any order, duplicate, gap, restart, hand-over and new configuration: as the slow reference says (seed ${SEED})`,
  async t => {
    const tally = { up: 0, down: 0, degraded: 0, reduced: 0, disagreements: 0, asks: 0 }
    const property = fc.property(world, setup => {
      const arrivals = arrivalsIn(setup)
      const expected = judgeAll(arrivals).map(brief)
      const decisions = run(arrivals)
      for (const [i, decision] of decisions.entries()) {
        const seen = briefDecision(decision)
        if (JSON.stringify(seen) !== JSON.stringify(expected[i])) {
          throw new Error(`result ${i}: ${JSON.stringify(seen)}, the reference says ${JSON.stringify(expected[i])}`)
        }
        if (decision.transition) tally[decision.transition.to]++
        if (decision.transition?.quorum === 'reduced') tally.reduced++
        if (decision.disagreement) tally.disagreements++
        if (decision.ask) tally.asks++
      }
    })
    fc.assert(property, { seed: SEED, numRuns: RUNS })
    for (const [what, times] of Object.entries(tally)) t.ok(times > 20, `enough of ${what} was seen: ${times}`)
  },
)

t.test(`what need not be stored may be forgotten: one region, restarts anywhere (seed ${SEED})`, async t => {
  const property = fc.property(world, fc.array(fc.nat(70), { maxLength: 5 }), (setup, restarts) => {
    const plain = {
      ...setup,
      regions: 1,
      steps: setup.steps.map(inOrder),
    }
    const arrivals = arrivalsIn(plain)
    const statuses = (decisions: Decision[]) => decisions.map(({ state }) => state.status).join(' ')
    return statuses(run(arrivals)) === statuses(runForgetting(arrivals, new Set(restarts)))
  })
  fc.assert(property, { seed: SEED, numRuns: RUNS / 5 })
  t.pass()
})

t.test(`feeding everything again changes nothing (seed ${SEED})`, async t => {
  const property = fc.property(world, setup => {
    const arrivals = arrivalsIn(setup)
    const last = run(arrivals).at(-1)!.state
    let state = last
    const newest = arrivals.at(-1)!
    for (const { result } of arrivals) {
      if (result.scheduledAtMs > newest.atMs + 5000) continue
      const wasRefused = arrivals.find(one => one.result === result)!.atMs + 5000 < result.scheduledAtMs
      if (wasRefused || result.trigger === Trigger.OTHER_PROBE) continue
      const decision = decide(state, result, newest.policy, newest.atMs)
      if (decision.transition) return false
      state = decision.state
    }
    return state.status === last.status
  })
  fc.assert(property, { seed: SEED, numRuns: RUNS / 5 })
  t.pass()
})

function run(arrivals: readonly Arrival[]): Decision[] {
  let state = newMonitorState('m-1', 1)
  return arrivals.map(({ result, policy, atMs, restoredAtMs }) => {
    if (restoredAtMs !== null) state = restore(asStored(state), restoredAtMs)
    const decision = decide(state, result, policy, atMs)
    state = decision.state
    return decision
  })
}

/** Keeps what must be stored only, and loses the rest at each restart, as the judge does. */
function runForgetting(arrivals: readonly Arrival[], restarts: ReadonlySet<number>): Decision[] {
  let state: MonitorState = newMonitorState('m-1', 1)
  let stored = state
  return arrivals.map(({ result, policy, atMs }, i) => {
    if (restarts.has(i)) state = restore(asStored(stored), arrivals[i - 1]?.atMs ?? atMs)
    const decision = decide(state, result, policy, atMs)
    state = decision.state
    if (decision.mustStore) stored = state
    return decision
  })
}

/** A slot of its own each, so that a forgotten fence lets nothing in twice. */
function inOrder(one: Step): Step {
  return { ...one, event: '', order: 'slot', waitSteps: one.waitSteps || 1 }
}

type Region = { epoch: number; probe: number; scheduledAtMs: number; attempt: number }

function arrivalsIn({ regions, retryCount, stickiness, steps }: World): Arrival[] {
  const timing = { intervalMs: 6 * STEP_MS, timeoutMs: STEP_MS }
  let policy = policyOf({ ...timing, regions: ALL.slice(0, regions), retryCount })
  const places = new Map<string, Region>()
  const arrivals: Arrival[] = []
  let atMs = START_MS
  let outcome = steps[0]!.outcome
  for (const [i, one] of steps.entries()) {
    atMs += one.waitSteps * STEP_MS
    if (stickiness === 0 || i % (stickiness + 1) === 0) outcome = one.outcome
    if (one.event === 'config') policy = changePolicy(policy, one.pick)
    const region = ALL[one.region % regions]!
    const restoredAtMs = one.event === 'restart' && arrivals.length > 0 ? arrivals.at(-1)!.atMs : null
    const isAgain = one.order === 'again' && arrivals.length > 0
    const again = isAgain ? arrivals[arrivals.length - 1 - (one.pick % Math.min(arrivals.length, 8))]!.result : null
    const result = again ?? resultFor(one, region, outcome, places, policy, atMs)
    arrivals.push({ result, policy, atMs, restoredAtMs })
  }
  return arrivals
}

function resultFor(
  one: Step,
  region: string,
  outcome: Outcome,
  places: Map<string, Region>,
  policy: Policy,
  atMs: number,
): Counted {
  const place = places.get(region) ?? { epoch: 1, probe: 1, scheduledAtMs: atMs, attempt: 0 }
  places.set(region, place)
  const configVersion = policy.configVersion - (one.event === 'cutoff' && one.pick % 3 === 0 ? 1 : 0)
  if (one.event === 'opinion') {
    const scheduledAtMs = atMs - (one.pick % 3) * STEP_MS
    const probeId = `${region}-p${place.probe + (one.pick % 2)}`
    return resultOf({
      region,
      outcome: one.outcome,
      scheduledAtMs,
      configVersion,
      epoch: place.epoch,
      probeId,
      trigger: ASKED[one.pick % ASKED.length]!,
    })
  }
  if (one.event === 'handover') {
    place.epoch++
    place.probe = 1 + (one.pick % 3)
  }
  const wasMissedBy = one.event === 'cutoff' ? 1 : 0
  if (one.order === 'recheck') place.attempt++
  else if (one.order === 'slot') Object.assign(place, { scheduledAtMs: atMs, attempt: 1 })
  const shiftMs =
    one.order === 'late' ? -(one.pick % 20) * STEP_MS : one.order === 'future' ? (1 + (one.pick % 4)) * STEP_MS : 0
  return resultOf({
    region,
    outcome,
    configVersion,
    epoch: Math.max(0, place.epoch - wasMissedBy),
    probeId: `${region}-p${place.probe}`,
    scheduledAtMs: place.scheduledAtMs + shiftMs,
    attempt: Math.max(1, place.attempt),
  })
}

function changePolicy(policy: Policy, pick: number): Policy {
  const regions = ALL.filter((_, i) => (pick >> i) % 2 === 0)
  return {
    ...policy,
    configVersion: policy.configVersion + 1,
    streaksSince: pick % 5 < 2 ? policy.streaksSince : policy.configVersion + 1,
    regions: regions.length === 0 ? ALL : regions,
    retryCount: pick % 4,
    intervalMs: (pick % 3 === 0 ? 12 : 6) * STEP_MS,
  }
}

function brief({ use, status, heldSinceMs, isAsking, isRenewing, isDisagreeing }: Judged) {
  const ignored = use === 'refused' || use === 'late'
  return { ignored, status, heldSinceMs, isAsking: isAsking || isRenewing, isDisagreeing }
}

function briefDecision({ kind, state, ask, disagreement }: Decision) {
  const ignored = kind === 'history' || kind === 'refused_future'
  return {
    ignored,
    status: state.status,
    heldSinceMs: state.quorumLostSinceMs,
    isAsking: ask !== null,
    isDisagreeing: disagreement !== null,
  }
}
