import fc from 'fast-check'
import type { Policy, VerdictResult } from '../../../../control-plane/verdict/core/types.ts'
import { Outcome, Trigger } from '../../../../proto/gen/probe/v1/result.ts'
import { type Arrival, STEP_MS } from './reference.ts'
import { buildPolicy, buildResult, REGIONS, START_MS } from './runs.ts'

/** Random runs of results of one monitor, for the tests that compare two ways of judging them. */

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
export const world = fc.record({
  regions: fc.integer({ min: 1, max: 5 }),
  retryCount: fc.constantFrom(0, 1, 2, 2, 5),
  intervalSteps: fc.constantFrom(6, 6, 6, 12, 24, 30),
  /** how often a step keeps the outcome of the step before: real outages last */
  stickiness: fc.nat(3),
  steps: fc.array(step, { minLength: 10, maxLength: 100, size: 'max' }),
})
export type World = typeof world extends fc.Arbitrary<infer W> ? W : never
export type Step = World['steps'][number]

type Region = { epoch: number; probe: number; scheduledAtMs: number; attempt: number }

export function arrivalsIn({ regions, retryCount, intervalSteps, stickiness, steps }: World): Arrival[] {
  const timing = { intervalMs: intervalSteps * STEP_MS, timeoutMs: STEP_MS }
  let policy = buildPolicy({ ...timing, regions: ALL.slice(0, regions), retryCount })
  const places = new Map<string, Region>()
  const arrivals: Arrival[] = []
  let atMs = START_MS
  let outcome = steps[0]!.outcome
  for (const [i, one] of steps.entries()) {
    atMs += one.waitSteps * STEP_MS
    if (stickiness === 0 || i % (stickiness + 1) === 0) outcome = one.outcome
    if (one.event === 'config') policy = changePolicy(policy, one.pick)
    const region = ALL[one.region % regions]!
    const isAfterRestart = one.event === 'restart' && arrivals.length > 0
    const isAgain = one.order === 'again' && arrivals.length > 0
    const again = isAgain ? arrivals[arrivals.length - 1 - (one.pick % Math.min(arrivals.length, 8))]!.result : null
    const result = again ?? resultFor(one, region, outcome, places, policy, atMs)
    arrivals.push({ result, policy, atMs, isAfterRestart })
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
): VerdictResult {
  const place = places.get(region) ?? { epoch: 1, probe: 1, scheduledAtMs: atMs, attempt: 0 }
  places.set(region, place)
  const configVersion = policy.configVersion - (one.event === 'cutoff' && one.pick % 3 === 0 ? 1 : 0)
  if (one.event === 'opinion') {
    const scheduledAtMs = atMs - (one.pick % 3) * STEP_MS
    const probeId = `${region}-p${place.probe + (one.pick % 2)}`
    return buildResult({
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
  return buildResult({
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
