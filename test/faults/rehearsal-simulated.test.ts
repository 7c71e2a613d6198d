import t from 'tap'
import { findDifference } from '../../control-plane/insight/explanations/rehearsal/periods.ts'
import { describeDifference } from '../../control-plane/insight/explanations/rehearsal/reasons.ts'
import { createRehearsal } from '../../control-plane/insight/explanations/rehearsal/replay/rehearse.ts'
import type { SettingsChange, StatusStep } from '../../control-plane/insight/explanations/rehearsal/replay/types.ts'
import { MIXED_INTERVALS_S } from '../simulate/installation.ts'
import { SIMULATED_FAULT_KINDS, type SimulatedFaultKind } from '../simulate/plan.ts'
import { type Options, STANDARD, simulate } from '../simulate/simulate.ts'
import { listAttempts, recordInputs } from '../simulate/verdict-inputs.ts'

// takes about 120 s

const WHOLE = { fromMs: 0, toMs: Number.POSITIVE_INFINITY }

/** Simulates a time, then rehearses each monitor from its stored inputs. */
async function rehearseSimulated(options: Partial<Options>, change: SettingsChange = {}) {
  const { inputs, observe } = recordInputs()
  await simulate({ ...STANDARD, intervalsS: MIXED_INTERVALS_S, ...options }, () => {}, observe)
  return [...listAttempts(inputs)].map(([monitorId, attempts]) => {
    const stored = inputs.steps.get(monitorId) ?? []
    const own = {
      ...{ monitorId, policies: inputs.policies.get(monitorId)!, regionChanges: inputs.regionChanges },
      losses: stored.filter(({ to }) => to === null),
      initial: { status: null, sinceMs: null, outageSinceMs: null, uncheckedSinceMs: null },
    }
    const rehearsal = createRehearsal(own, change)
    for (const attempt of attempts) rehearsal.add(attempt)
    const steps = rehearsal.finish(Number.POSITIVE_INFINITY)
    return { monitorId, stored, steps, differsAtMs: findDifference(stored, steps, WHOLE) }
  })
}

type Rehearsed = Awaited<ReturnType<typeof rehearseSimulated>>
const listDifferent = (rehearsed: Rehearsed) => rehearsed.filter(({ differsAtMs }) => differsAtMs !== null)
const countSteps = (rehearsed: Rehearsed) => rehearsed.reduce((sum, { stored }) => sum + stored.length, 0)

t.test('Random outages, edits and pauses: the rehearsal gives the stored transitions', async t => {
  const rehearsed = await rehearseSimulated({ seed: 1, days: 0.5, monitors: 16, factor: 9, only: ['hints-lost'] })
  t.ok(countSteps(rehearsed) > 30, `${countSteps(rehearsed)} transitions`)
  t.same(listDifferent(rehearsed), [])
})

t.test('Random outages under another retry count: other transitions', async t => {
  const options: Partial<Options> = { seed: 2, days: 0.5, monitors: 16, factor: 9, only: ['hints-lost'] }
  const rehearsed = await rehearseSimulated(options, { retryCount: 5 })
  t.ok(listDifferent(rehearsed).length > 5, `${listDifferent(rehearsed).length} monitors`)
  const downs = (steps: readonly StatusStep[]) => steps.filter(({ to }) => to === 'down').length
  const before = rehearsed.reduce((sum, { stored }) => sum + downs(stored), 0)
  const after = rehearsed.reduce((sum, { steps }) => sum + downs(steps), 0)
  t.ok(after < before, `${before} times down become ${after}`)
})

/** Faults of the control plane, during which the verdict may know what is not stored. */
const CENTRAL: readonly SimulatedFaultKind[] = [
  ...(['control-plane-redeployed', 'fleet-killed', 'verdict-killed', 'verdict-without-nats'] as const),
  ...(['nats-away', 'nats-clock-set', 'postgres-away', 'postgres-restored', 'postgres-clock-set'] as const),
]

t.test('All faults of probes and regions: the rehearsal gives the stored transitions', async t => {
  const only = SIMULATED_FAULT_KINDS.filter(kind => !CENTRAL.includes(kind))
  const rehearsed = await rehearseSimulated({ seed: 3, days: 0.5, monitors: 16, factor: 30, only })
  t.ok(countSteps(rehearsed) > 60, `${countSteps(rehearsed)} transitions`)
  t.same(listDifferent(rehearsed), [])
})

t.test('All faults: the rehearsal gives the stored transitions of nearly all monitors', async t => {
  const rehearsed = await rehearseSimulated({ seed: 4, days: 0.5, monitors: 16, factor: 30 })
  t.ok(countSteps(rehearsed) > 60, `${countSteps(rehearsed)} transitions`)
  const different = listDifferent(rehearsed)
  t.ok(different.length <= 1, `${different.length} of ${rehearsed.length} differ`)
  // the answer of the API is marked by the same two functions
  for (const { monitorId, stored, differsAtMs } of different) {
    const { code, message } = describeDifference(differsAtMs!, Number.POSITIVE_INFINITY)
    t.equal(code, 'differs_from_stored', `${monitorId} is marked as approximate`)
    t.match(message, `the first difference is at ${new Date(differsAtMs!).toISOString()}`)
    t.ok(stored.length > 0)
  }
})
