import t from 'tap'
import type { EventRow } from '../../../../control-plane/alerting/events/catalog.ts'
import { removeOutage } from '../../../../control-plane/verdict/suppression/quiet-event.ts'

const incident = {
  id: 'i',
  title: 'Shop is down',
  status: 'resolved',
  severity: 'major',
  started_at: '2026-11-21T02:00:00.000Z',
}
const RECOVERY: EventRow<'monitor.up'> = {
  id: 'e',
  projectId: 'p',
  name: 'monitor.up',
  subject: 'monitor:m',
  data: {
    monitor: { id: 'm', name: 'Shop', url: null, type: 'http', status: 'up' },
    check: { region: 'us-east', regions: [], status_code: 200, response_time_ms: 12, error: '' },
    ssl_expiry_days: null,
    domain_expiry_days: null,
    down_duration: '4 minutes',
    incident,
    dashboard_url: 'https://picket.example/monitors/m',
  },
  occurredAt: new Date('2026-11-21T02:04:00Z'),
}

t.test('a recovery without its outage contains no duration and no incident', async t => {
  const [quiet] = removeOutage('new', RECOVERY)
  t.same(quiet, { ...RECOVERY, id: 'new', data: { ...RECOVERY.data, down_duration: null, incident: null } })
})

t.test('the end of an incident that was not published is not sent', async t => {
  t.same(removeOutage('new', { ...RECOVERY, name: 'incident.resolved', subject: 'incident:i' } as EventRow), [])
})
