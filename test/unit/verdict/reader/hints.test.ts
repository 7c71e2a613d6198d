import t from 'tap'
import { buildHints, withoutDiscarded } from '../../../../control-plane/verdict/reader/commit/hints.ts'
import { createBatchEffects } from '../../../../control-plane/verdict/reader/counting/batch-effects.ts'

t.test('Each region gets the new states of its monitors in one hint', async t => {
  const regionStates = [
    { monitorId: 'a', region: 'us-east', state: 'failing' as const },
    { monitorId: 'b', region: 'us-east', state: 'ok' as const },
    { monitorId: 'a', region: 'eu-west', state: 'degraded' as const },
  ]
  t.same(
    buildHints({ ...createBatchEffects(), regionStates }, () => 'run', 5),
    [
      {
        subject: 'HINT.state.us-east',
        body: {
          states: [
            { monitorId: 'a', state: 3 },
            { monitorId: 'b', state: 1 },
          ],
        },
      },
      { subject: 'HINT.state.eu-west', body: { states: [{ monitorId: 'a', state: 2 }] } },
    ],
  )
})

t.test('A doubted failure requests a witness in any region', async t => {
  const ask = { reason: 'doubt' as const, regions: [], otherProbes: [], witness: { configVersion: 7 } }
  t.same(
    buildHints({ ...createBatchEffects(), asks: [{ monitorId: 'a', ask }] }, () => 'run', 5),
    [{ subject: 'HINT.witness', body: { runId: 'run', monitorId: 'a', configVersion: 7, scheduledAtMs: 5 } }],
  )
})

t.test(
  'A first failure asks the other regions, another probe of the same region, and whose opinion is to be renewed',
  async t => {
    const ask = {
      reason: 'first_failure' as const,
      regions: ['eu-west'],
      otherProbes: [
        { region: 'us-east', notProbeId: 'p1' },
        { region: 'ap-southeast', notProbeId: 'p7' },
      ],
    }
    const body = { runId: 'run', monitorId: 'a', trigger: 2, scheduledAtMs: 5 }
    t.same(
      buildHints({ ...createBatchEffects(), asks: [{ monitorId: 'a', ask }] }, () => 'run', 5),
      [
        { subject: 'HINT.run.eu-west', body },
        { subject: 'HINT.run.us-east', body: { ...body, notProbeId: 'p1' } },
        { subject: 'HINT.run.ap-southeast', body: { ...body, notProbeId: 'p7' } },
      ],
    )
  },
)

t.test('Probes get no state of a monitor that was edited while its results were counted', async t => {
  const regionStates = ['edited', 'unchanged'].map(monitorId => {
    return { monitorId, region: 'eu-west', state: 'failing' as const }
  })
  const effects = withoutDiscarded({ ...createBatchEffects(), regionStates }, new Set(['edited']))
  t.same(
    buildHints(effects, () => 'run', 5),
    [{ subject: 'HINT.state.eu-west', body: { states: [{ monitorId: 'unchanged', state: 3 }] } }],
  )
})
