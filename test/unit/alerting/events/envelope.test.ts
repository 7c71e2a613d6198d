import t from 'tap'
import type { IncidentEventData, MonitorEventData } from '../../../../control-plane/alerting/events/catalog.ts'
import { buildEnvelope } from '../../../../control-plane/alerting/events/envelope.ts'

t.test('An envelope has the five documented fields in order', async t => {
  const data = { dashboard_url: 'https://picket.example/monitors/1' } as MonitorEventData
  const envelope = buildEnvelope({ name: 'monitor.down', data }, 'whd_1', new Date('2026-08-01T12:00:00.005Z'))
  t.equal(
    JSON.stringify(envelope),
    '{"api_version":"1","event":"monitor.down","delivery_id":"whd_1","delivered_at":"2026-08-01T12:00:00.005Z",' +
      '"data":{"dashboard_url":"https://picket.example/monitors/1"}}',
  )
})

t.test('An envelope does not contain whether an update is automatic, which is not documented', async t => {
  const update = { id: 'u', author_id: null, is_automatic: true, created_at: '2026-08-01T12:00:00.000Z' }
  const data = { update, dashboard_url: '' } as unknown as IncidentEventData
  const envelope = buildEnvelope({ name: 'incident.resolved', data }, 'whd_1', new Date())
  t.equal(
    JSON.stringify(envelope.data),
    '{"update":{"id":"u","author_id":null,"created_at":"2026-08-01T12:00:00.000Z"},"dashboard_url":""}',
  )
})
