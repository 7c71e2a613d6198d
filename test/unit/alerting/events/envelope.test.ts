import t from 'tap'
import type { MonitorEventData } from '../../../../control-plane/alerting/events/catalog.ts'
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
