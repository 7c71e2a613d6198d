import t from 'tap'
import { buildIncidentEvent } from '../../../../control-plane/verdict/incidents/incident-event.ts'

const started_at = new Date('2026-08-01T12:00:00.000Z')
const now = new Date('2026-08-01T12:04:12.000Z')
const incident = {
  id: 'i',
  title: 'Shop is down',
  status: 'investigating',
  severity: 'major',
  started_at,
  resolved_at: null,
  acknowledged_at: null,
  acknowledged_by: null,
  monitors: [{ id: 'm', name: 'Shop', status: 'down' }],
}
const update = {
  id: 'u',
  incident_id: 'i',
  status: 'resolved',
  message: 'Shop is up again.',
  is_internal: true,
  author_id: null,
  created_at: now,
  updated_at: now,
}

t.test('An event contains exactly the documented fields in their order', async t => {
  const fact = { name: 'incident.created' as const, projectId: 'p', incident, update: null, statusPage: null }
  const event = buildIncidentEvent('e', fact, 'https://picket.example', now)
  t.match(event, { id: 'e', projectId: 'p', name: 'incident.created', subject: 'incident:i', occurredAt: now })
  t.equal(
    JSON.stringify(event.data),
    JSON.stringify({
      incident: {
        id: 'i',
        title: 'Shop is down',
        status: 'investigating',
        severity: 'major',
        started_at: '2026-08-01T12:00:00.000Z',
        resolved_at: null,
        acknowledged_at: null,
        acknowledged_by: null,
      },
      update: null,
      monitors: [{ id: 'm', name: 'Shop', status: 'down' }],
      dashboard_url: 'https://picket.example/incidents/i',
      status_page_url: null,
    }),
  )
})

t.test('An event contains the update, the acknowledgement and the end', async t => {
  const over = { ...incident, status: 'resolved', resolved_at: now, acknowledged_at: now, acknowledged_by: 'user' }
  const fact = { name: 'incident.resolved' as const, projectId: 'p', incident: over, update, statusPage: null }
  const { data } = buildIncidentEvent('e', fact, 'https://picket.example', now)
  t.match(data, {
    incident: {
      resolved_at: '2026-08-01T12:04:12.000Z',
      acknowledged_at: '2026-08-01T12:04:12.000Z',
      acknowledged_by: 'user',
    },
  })
  t.equal(
    JSON.stringify('update' in data && data.update),
    JSON.stringify({
      id: 'u',
      status: 'resolved',
      message: 'Shop is up again.',
      is_internal: true,
      author_id: null,
      is_automatic: false,
      created_at: '2026-08-01T12:04:12.000Z',
    }),
  )
  const bySystem = { ...update, is_automatic: true }
  t.match(buildIncidentEvent('e', { ...fact, update: bySystem }, 'https://picket.example', now).data, {
    update: { author_id: null, is_automatic: true },
  })
})

t.test('An event contains the address of the status page, at its custom domain if it has one', async t => {
  const fact = { name: 'incident.created' as const, projectId: 'p', incident, update: null }
  const buildEventData = (statusPage: { slug: string; domain: string | null }) =>
    buildIncidentEvent('e', { ...fact, statusPage }, 'https://picket.example', now).data
  t.match(buildEventData({ slug: 'acme', domain: null }), { status_page_url: 'https://picket.example/status/acme' })
  t.match(buildEventData({ slug: 'acme', domain: 'status.acme.com' }), { status_page_url: 'https://status.acme.com' })
})
