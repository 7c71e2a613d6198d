import fc from 'fast-check'
import t from 'tap'
import { decide } from '../../../../control-plane/verdict/core/rules/decide.ts'
import { createMonitorState, restoreState } from '../../../../control-plane/verdict/core/rules/state.ts'
import type { Decision, MonitorState } from '../../../../control-plane/verdict/core/types.ts'
import { Trigger } from '../../../../proto/gen/probe/v1/result.ts'
import { type Arrival, type JudgedArrival, judgeAll } from './reference.ts'
import { asStored } from './runs.ts'
import { arrivalsIn, type Step, world } from './worlds.ts'

const SEED = Number(process.env.VERDICT_SEED ?? Date.now() % 2 ** 31)
const RUNS = 2000
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

t.test(`a restart may lose what need not be stored: one region, restarts anywhere (seed ${SEED})`, async t => {
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

t.test(`counting all results again changes nothing (seed ${SEED})`, async t => {
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
  let state = createMonitorState('m-1', 1)
  return arrivals.map(({ result, policy, atMs, isAfterRestart }) => {
    if (isAfterRestart) state = restoreState(asStored(state), null)
    const decision = decide(state, result, policy, atMs)
    state = decision.state
    return decision
  })
}

/** Keeps only what must be stored, and loses the rest at each restart. */
function runForgetting(arrivals: readonly Arrival[], restarts: ReadonlySet<number>): Decision[] {
  let state: MonitorState = createMonitorState('m-1', 1)
  let stored = state
  return arrivals.map(({ result, policy, atMs }, i) => {
    if (restarts.has(i)) state = restoreState(asStored(stored), null)
    const decision = decide(state, result, policy, atMs)
    state = decision.state
    if (decision.store !== 'no') stored = state
    return decision
  })
}

/** Each result has its own slot, so that a lost high-water mark counts nothing twice. */
function inOrder(one: Step): Step {
  return { ...one, event: '', order: 'slot', waitSteps: one.waitSteps || 1 }
}

function brief({ use, status, heldSinceMs, isAsking, isRenewing, isDisagreeing }: JudgedArrival) {
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
