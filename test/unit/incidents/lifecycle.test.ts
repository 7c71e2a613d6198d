import t from 'tap'
import { openingOf, recoveryMessage } from '../../../control-plane/incidents/lifecycle.ts'

const startedAt = new Date('2026-08-01T12:00:00Z')
const outage = { projectId: 'p', monitorId: 'm', monitorName: 'Shop', startedAt }

t.test('A monitor going down opens a major incident named after it', async t => {
  t.same(openingOf('i', outage), {
    id: 'i',
    project_id: 'p',
    monitor_id: 'm',
    title: 'Shop is down',
    severity: 'major',
    status: 'investigating',
    started_at: startedAt,
  })
})

t.test('The last update of an automatic incident tells how long the outage was', async t => {
  t.equal(recoveryMessage('Shop', '4 minutes 12 seconds'), 'Shop is up again after 4 minutes 12 seconds.')
})
