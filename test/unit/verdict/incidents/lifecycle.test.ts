import t from 'tap'
import {
  buildAutomaticIncident,
  buildChangeUpdates,
  computeResolvedAt,
  formatRecoveryMessage,
  getStatusAfterUpdate,
  getUpdateEventName,
  type IncidentStatus,
} from '../../../../control-plane/verdict/incidents/lifecycle.ts'

const startedAt = new Date('2026-08-01T12:00:00Z')
const outage = { projectId: 'p', monitorId: 'm', monitorName: 'Shop', startedAt }

t.test('A monitor going down opens a major incident named after it', async t => {
  t.same(buildAutomaticIncident('i', outage), {
    id: 'i',
    project_id: 'p',
    monitor_id: 'm',
    title: 'Shop is down',
    severity: 'major',
    status: 'investigating',
    started_at: startedAt,
  })
})

t.test('The title of an automatic incident keeps the whole name of the monitor, also of 100 emoji', async t => {
  const monitorName = '🔥'.repeat(100)
  t.equal(buildAutomaticIncident('i', { ...outage, monitorName }).title, `${monitorName} is down`)
})

t.test('The last update of an automatic incident contains the duration of the outage', async t => {
  t.equal(formatRecoveryMessage('Shop', '4 minutes 12 seconds'), 'Shop is up again after 4 minutes 12 seconds.')
})

const at = (minute: number) => new Date(Date.UTC(2026, 7, 1, 12, minute))

/** An update of an incident: its status before, the requested status, its status after and the event. */
const UPDATES: [IncidentStatus, IncidentStatus | undefined, IncidentStatus, string][] = [
  ['investigating', undefined, 'investigating', 'updated'],
  ['monitoring', undefined, 'investigating', 'updated'],
  ['identified', 'identified', 'identified', 'updated'],
  ['identified', 'resolved', 'resolved', 'resolved'],
  ['resolved', undefined, 'resolved', 'updated'],
  ['resolved', 'resolved', 'resolved', 'updated'],
  ['resolved', 'investigating', 'investigating', 'updated'],
]

t.test('An update sets the status, and becoming resolved publishes incident.resolved only', async t => {
  for (const [before, named, after, event] of UPDATES) {
    const title = `${before}, an update names ${named}`
    t.equal(getStatusAfterUpdate(before, named), after, title)
    t.equal(getUpdateEventName(before, after), `incident.${event}`, title)
  }
})

t.test('An incident keeps the time at which it was first resolved, never before its start', async t => {
  const open = { status: 'identified' as const, startedAt: at(0), resolvedAt: null }
  const over = { status: 'resolved' as const, startedAt: at(0), resolvedAt: at(5) }
  t.same(computeResolvedAt(open, 'resolved', at(7)), at(7))
  t.same(computeResolvedAt({ ...open, startedAt: at(9) }, 'resolved', at(7)), at(9))
  t.same(computeResolvedAt(over, 'resolved', at(7)), at(5))
  t.equal(computeResolvedAt(over, 'monitoring', at(7)), null)
})

t.test('A change of status says so in a sentence for visitors, one of the severity in an internal one', async t => {
  const before = { status: 'investigating', severity: 'minor' } as const
  const message = 'Severity changed from minor to critical'
  const severity = { status: 'investigating', message, is_internal: true }
  const status = {
    status: 'monitoring',
    message: 'Status changed from investigating to monitoring',
    is_internal: false,
  }
  t.same(buildChangeUpdates(before, before), [])
  t.same(buildChangeUpdates(before, { ...before, severity: 'critical' }), [severity])
  t.same(buildChangeUpdates(before, { ...before, status: 'monitoring' }), [status])
  t.same(buildChangeUpdates(before, { status: 'monitoring', severity: 'critical' }), [severity, status])
})
