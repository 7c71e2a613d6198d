import t from 'tap'
import { createAssignedMonitors } from '../../../probe-agent/schedule/assigned-monitors.ts'
import { assignment, checkSpec } from '../../support/fleet-server.ts'

t.test('A difference applies to the settings with which the page was captured', async t => {
  const monitors = createAssignedMonitors('eu-west')
  const upserts = [assignment('m', checkSpec('https://shop.example'), { configVersion: 2 })]
  monitors.apply({ isSnapshot: true, isLast: true, revision: 1, upserts, removals: [] })
  const known = () => {
    const { screenshotDifference, screenshotValidUntilMs } = monitors.get('m')!.assignment
    return [screenshotDifference, screenshotValidUntilMs]
  }
  monitors.setDifference({ monitorId: 'm', difference: 0.5, configVersion: 1, validUntilMs: 10 })
  t.same(known(), [undefined, undefined], 'earlier settings')
  monitors.setDifference({ monitorId: 'm', difference: 0.5, configVersion: 2, validUntilMs: 10 })
  t.same(known(), [0.5, 10])
  monitors.setDifference({ monitorId: 'm' })
  t.same(known(), [undefined, undefined], 'its baseline was accepted')
  monitors.setDifference({ monitorId: 'unknown', difference: 1 })
})
