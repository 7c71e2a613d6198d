import t from 'tap'
import { findDifference } from '../../control-plane/insight/explanations/rehearsal/periods.ts'
import { createRehearsal } from '../../control-plane/insight/explanations/rehearsal/rehearse.ts'
import type { SimulatedChange } from '../../control-plane/insight/explanations/rehearsal/types.ts'
import { type Options, STANDARD, simulate } from '../simulate/simulate.ts'
import { listAttempts, recordInputs } from '../simulate/verdict-inputs.ts'

// takes about 40 s

const WHOLE = { fromMs: 0, toMs: Number.POSITIVE_INFINITY }

/** Simulates a time, then rehearses each monitor from its stored inputs. */
async function rehearseSimulated(options: Partial<Options>, change: SimulatedChange = {}) {
  const { inputs, observe } = recordInputs()
  await simulate({ ...STANDARD, ...options }, () => {}, observe)
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

for (const seed of [1, 2, 3])
  t.test(`random outages without a fault, seed ${seed}: the rehearsal gives the stored transitions`, async t => {
    const rehearsed = await rehearseSimulated({ seed, days: 1, monitors: 24, factor: 0.001 })
    const count = rehearsed.reduce((sum, { stored }) => sum + stored.length, 0)
    t.ok(count > 40, `${count} transitions`)
    t.same(
      rehearsed.filter(({ differsAtMs }) => differsAtMs !== null),
      [],
    )
  })
