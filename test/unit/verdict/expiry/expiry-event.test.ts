import t from 'tap'
import type { MonitorState, RegionTally, VerdictResult } from '../../../../control-plane/verdict/core/types.ts'
import { buildExpiryEvent } from '../../../../control-plane/verdict/expiry/expiry-event.ts'

const now = new Date('2026-11-21T12:00:00Z')
const monitor = {
  id: 'm',
  projectId: 'p',
  name: 'Shop',
  url: 'https://shop.example/',
  type: 'http',
  status: 'down',
  regions: ['us-east', 'eu-west'],
}
const publicUrl = 'https://picket.example'

const cell = (region: string, state: RegionTally['state'], last: Partial<VerdictResult> | null) =>
  ({ region, state, last: last && { region, error: null, ...last } }) as RegionTally
const buildState = (...cells: RegionTally[]) => ({ cells }) as Partial<MonitorState> as MonitorState

t.test('a warning contains the days, the monitor, its newest check and its open incident', async t => {
  const state = buildState(
    cell('us-east', 'failing', {
      scheduledAtMs: 5,
      statusCode: 500,
      responseTimeMs: 12.6,
      error: { source: 1, code: 'status', message: 'status 500' },
    }),
    cell('eu-west', 'ok', { scheduledAtMs: 4, statusCode: 200, responseTimeMs: 9 }),
    cell('us-west', 'pending', null),
  )
  const incident = { id: 'i', title: 'Shop is down', status: 'investigating', severity: 'major', started_at: now }
  const event = buildExpiryEvent('e', 'tls', monitor, 14, { state, incident, publicUrl }, now)
  t.same(event, {
    id: 'e',
    projectId: 'p',
    name: 'monitor.ssl_expiry',
    subject: 'monitor:m',
    occurredAt: now,
    data: {
      monitor: { id: 'm', name: 'Shop', url: 'https://shop.example/', type: 'http', status: 'down' },
      check: { region: 'us-east', regions: ['us-east'], status_code: 500, response_time_ms: 13, error: 'status 500' },
      ssl_expiry_days: 14,
      domain_expiry_days: null,
      down_duration: null,
      incident: { ...incident, started_at: now.toISOString() },
      dashboard_url: 'https://picket.example/monitors/m',
    },
  })
})

t.test('a warning before the first check contains all fields', async t => {
  const event = buildExpiryEvent('e', 'domain', monitor, 0, { state: null, incident: null, publicUrl }, now)
  t.match(event, {
    name: 'monitor.domain_expiry',
    data: {
      check: { region: 'us-east', regions: [], status_code: 0, response_time_ms: 0, error: '' },
      ssl_expiry_days: null,
      domain_expiry_days: 0,
      incident: null,
    },
  })
})
