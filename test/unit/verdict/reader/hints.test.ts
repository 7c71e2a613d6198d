import t from 'tap'
import { buildHints, withoutDiscarded } from '../../../../control-plane/verdict/reader/commit/hints.ts'
import { stateHintSubject } from '../../../../shared/nats/subjects.ts'

const HINTS = {
  regionStates: [
    { monitorId: 'changed', region: 'eu-west', state: 'failing' as const },
    { monitorId: 'unchanged', region: 'eu-west', state: 'failing' as const },
  ],
  asks: [],
}
const listMonitors = (hints: ReturnType<typeof buildHints>) =>
  hints.flatMap(({ body }) => (body as { states: { monitorId: string }[] }).states.map(({ monitorId }) => monitorId))

t.test('Probes get no state of a monitor that was edited while its results were counted', async t => {
  const all = buildHints(HINTS, () => 'id', 0)
  t.match(all, [{ subject: stateHintSubject('eu-west') }])
  t.same(listMonitors(all), ['changed', 'unchanged'])
  t.same(listMonitors(buildHints(withoutDiscarded(HINTS, new Set(['changed'])), () => 'id', 0)), ['unchanged'])
})
