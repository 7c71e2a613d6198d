import t from 'tap'
import { getComponentStatus, pickWorstStatus } from '../../../control-plane/pages/core/component-status.ts'
import type { DisplayStatus } from '../../../control-plane/pages/core/types.ts'
import { computeOverallStatus } from '../../../control-plane/pages/public/view/overall-status.ts'

type Open = Parameters<typeof computeOverallStatus>[1]
const byHand = (severity: 'minor' | 'major' | 'critical'): Open => [{ source: 'manual', severity }]

t.test('the sentence on top says what the components say, and what people say when that is worse', async t => {
  const rows: [DisplayStatus[], Open, string, string][] = [
    [[], [], 'unknown', 'The status is not known'],
    [['unknown', 'unknown'], [], 'unknown', 'The status is not known'],
    [['operational', 'operational'], [], 'operational', 'All systems are operational'],
    [['operational', 'unknown'], [], 'operational', 'All systems that are watched are operational'],
    [['operational', 'maintenance'], [], 'maintenance', 'Maintenance is under way'],
    [['maintenance', 'degraded'], [], 'degraded', 'Some systems are degraded'],
    [['operational', 'degraded', 'outage'], [], 'partial_outage', 'Some systems are down'],
    [['outage', 'outage'], [], 'outage', 'All systems are down'],
    [['outage', 'unknown'], [], 'outage', 'All systems are down'],
    [['operational'], byHand('minor'), 'degraded', 'There is a minor incident'],
    [['operational'], byHand('major'), 'partial_outage', 'There is a major incident'],
    [['operational'], byHand('critical'), 'outage', 'There is a critical incident'],
    [['outage', 'operational'], byHand('minor'), 'partial_outage', 'Some systems are down'],
    [['operational'], [...byHand('minor'), ...byHand('critical')], 'outage', 'There is a critical incident'],
    [['degraded'], [{ source: 'automatic', severity: 'major' }], 'degraded', 'Some systems are degraded'],
    [[], byHand('minor'), 'degraded', 'There is a minor incident'],
  ]
  for (const [components, open, status, sentence] of rows) {
    t.same(
      computeOverallStatus(components, open),
      { status, sentence },
      `${components} ${open.map(({ severity }) => severity)}`,
    )
  }
})

t.test('a group is as its worst component', async t => {
  const rows: [DisplayStatus[], DisplayStatus][] = [
    [[], 'unknown'],
    [['operational', 'operational'], 'operational'],
    [['operational', 'unknown'], 'unknown'],
    [['unknown', 'maintenance'], 'maintenance'],
    [['maintenance', 'degraded'], 'degraded'],
    [['degraded', 'outage', 'operational'], 'outage'],
  ]
  for (const [statuses, expected] of rows) t.equal(pickWorstStatus(statuses), expected, statuses.join(', '))
})

t.test('a component is what its monitor says, else what was set by hand', async t => {
  const monitor = (status: 'up' | 'down' | 'degraded' | null, isPaused = false) => ({
    monitor: { id: 'm', status, isPaused, changedAt: null },
    status: 'unknown' as const,
  })
  t.equal(getComponentStatus(monitor('up')), 'operational')
  t.equal(getComponentStatus(monitor('degraded')), 'degraded')
  t.equal(getComponentStatus(monitor('down')), 'outage')
  t.equal(getComponentStatus(monitor(null)), 'unknown')
  t.equal(getComponentStatus(monitor('up', true)), 'unknown', 'a paused monitor says nothing')
  t.equal(getComponentStatus({ monitor: null, status: 'degraded' }), 'degraded')
})
