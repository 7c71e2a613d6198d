import t from 'tap'
import type { EventName, EventRow } from '../../../../control-plane/alerting/events/catalog.ts'
import { buildDigestEvent, isDigestible } from '../../../../control-plane/alerting/events/digest.ts'
import { SAMPLES } from '../../../support/channel-events.ts'

const AT = new Date('2026-11-21T12:00:00Z')
const buildEvent = (name: EventName, data: object = SAMPLES[name]) => {
  const subject = name.startsWith('monitor.') ? 'monitor:a' : 'incident:a'
  return { name, subject, data } as EventRow
}
const bySystem = { update: { author_id: null, is_automatic: true } }
const byKey = { update: { author_id: null, is_automatic: false } }
/** of a version that stored only the author */
const ofOldProcess = { update: { author_id: null } }

const CHANGES: [title: string, event: EventRow, isDigested: boolean][] = [
  ['a monitor that goes down', buildEvent('monitor.down'), true],
  ['a monitor that comes up', buildEvent('monitor.up'), true],
  ['an incident without an update', buildEvent('incident.created', { update: null }), true],
  ['an incident that the system resolves', buildEvent('incident.resolved', bySystem), true],
  ['an incident that an old process resolves', buildEvent('incident.resolved', ofOldProcess), true],
  ['an incident that a key without a creator resolves', buildEvent('incident.resolved', byKey), false],
  ['an incident that a person resolves', buildEvent('incident.resolved'), false],
  ['an update', buildEvent('incident.updated', bySystem), false],
  ['an acknowledgement', buildEvent('incident.acknowledged'), false],
  ['a warning', buildEvent('monitor.ssl_expiry'), false],
  ['a test of a channel', { ...buildEvent('monitor.down'), subject: 'test:a' }, false],
]
for (const [title, event, isDigested] of CHANGES) {
  t.test(`A digest ${isDigested ? 'contains' : 'does not contain'} ${title}`, async t =>
    t.equal(isDigestible(event), isDigested),
  )
}

t.test('An incident in a digest is a line with its monitor and the status of it', async t => {
  const buildIncident = (status: string, monitors: object[]) => {
    const { incident, ...data } = SAMPLES['incident.created']
    return { occurredAt: AT, reminder: null, data: { ...data, incident: { ...incident, status }, monitors } as never }
  }
  const shop = { id: 'a', name: 'Shop' }
  const changes = [
    { occurredAt: AT, reminder: 2, data: SAMPLES['monitor.down'] },
    buildIncident('investigating', [{ ...shop, status: 'down' }]),
    buildIncident('resolved', [{ ...shop, status: 'up' }]),
    buildIncident('resolved', [{ ...shop, status: null }]),
    buildIncident('investigating', []),
  ]
  const { data } = buildDigestEvent('e', 'p', { projectName: 'Acme', changes }, AT)
  const id = SAMPLES['monitor.down'].monitor.id
  t.same(
    data.changes.map(({ monitor_id, name, status, reminder }) => [monitor_id, name, status, reminder]),
    [
      [id, 'Shop', 'down', 2],
      ['a', 'Shop', 'down', null],
      ['a', 'Shop', 'up', null],
      ['a', 'Shop', 'resolved', null],
      [SAMPLES['incident.created'].incident.id, 'Shop is down', 'down', null],
    ],
  )
  t.match(data.changes[1], { at: AT.toISOString(), url: SAMPLES['incident.created'].dashboard_url })
})
