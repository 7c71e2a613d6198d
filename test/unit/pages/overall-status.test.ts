import t from 'tap'
import { getComponentStatus, pickWorstStatus } from '../../../control-plane/pages/core/component-status.ts'
import type { DisplayStatus } from '../../../control-plane/pages/core/types.ts'
import { computeOverallStatus } from '../../../control-plane/pages/public/view/overall-status.ts'

type Open = Parameters<typeof computeOverallStatus>[1]
const byHand = (severity: 'minor' | 'major' | 'critical'): Open => [{ source: 'manual', severity }]

t.test('The overall status is the worst of the components and of open manual incidents', async t => {
  const rows: [DisplayStatus[], Open, string, string][] = [
    [[], [], 'unknown', 'The status is unknown'],
    [['unknown', 'unknown'], [], 'unknown', 'The status is unknown'],
    [['operational', 'operational'], [], 'operational', 'All systems are operational'],
    [['operational', 'unknown'], [], 'operational', 'All monitored systems are operational'],
    [['operational', 'maintenance'], [], 'maintenance', 'Maintenance is under way'],
    [['maintenance', 'degraded'], [], 'degraded', 'Some systems are degraded'],
    [['operational', 'degraded', 'outage'], [], 'partial_outage', 'Some systems are down'],
    [['outage', 'outage'], [], 'outage', 'All systems are down'],
    [['outage', 'unknown'], [], 'partial_outage', 'Some systems are down'],
    [['outage', 'outage', 'unknown'], [], 'partial_outage', 'Some systems are down'],
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

t.test('A group has the status of its worst component', async t => {
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

t.test('A component has the status of its monitor, else the manual status', async t => {
  const monitor = (status: 'up' | 'down' | 'degraded' | null, isPaused = false) => ({
    monitor: { id: 'm', status, isPaused, changedAt: null },
    status: 'unknown' as const,
  })
  t.equal(getComponentStatus(monitor('up')), 'operational')
  t.equal(getComponentStatus(monitor('degraded')), 'degraded')
  t.equal(getComponentStatus(monitor('down')), 'outage')
  t.equal(getComponentStatus(monitor(null)), 'unknown')
  t.equal(getComponentStatus(monitor('up', true)), 'unknown', 'a paused monitor gives unknown')
  t.equal(getComponentStatus({ monitor: null, status: 'degraded' }), 'degraded')
})
