import t from 'tap'
import type { EventRow } from '../../../../control-plane/alerting/events/catalog.ts'
import {
  listNotificationsOnRemoval,
  listPendingNotifications,
  type NotifiedStatus,
  removeOutage,
  type SuppressedChanges,
  type SuppressedTransition,
  suppressTransition,
} from '../../../../control-plane/verdict/suppression/suppressed.ts'

/** A run such as "up down up": the steps between the statuses, numbered from 1. */
function parseSteps(run: string): SuppressedTransition[] {
  const statuses = run.split(' ').map(word => (word === 'null' ? null : word)) as NotifiedStatus[]
  let isOutage = statuses[0] === 'down'
  return statuses.slice(1).map((to, i) => {
    const wasInOutage = isOutage
    isOutage = to === 'down' || (to === 'degraded' && isOutage)
    return {
      from: statuses[i]!,
      to: to as SuppressedTransition['to'],
      wasInOutage,
      transitionId: String(i + 1),
      eventIds: [],
    }
  })
}

const withheldAfter = (run: string): SuppressedChanges =>
  parseSteps(run).reduce<SuppressedChanges | null>(suppressTransition, null)!

const write = ({ transition: step, withoutOutage: quietly }: ReturnType<typeof listPendingNotifications>[number]) =>
  `${step.transitionId}:${step.to}${quietly ? ' quietly' : ''}`

/** The status known last, what happened during the silence, and what is sent after it. */
const ROWS: [title: string, run: string, expected: string][] = [
  ['an outage that began and ended during the silence is not sent', 'up down up', ''],
  ['an outage that continues is sent', 'up down', '1:down'],
  ['of several outages, the current one is sent', 'up down up down', '3:down'],
  ['several outages that have ended are not sent', 'up down up down up', ''],
  ['the end of a known outage is sent', 'down up', '1:up'],
  ['a known outage that continues is not sent again', 'down degraded down', ''],
  ['the end of a known outage and a new current one are sent', 'down up down', '1:up 2:down'],
  ['the end of a known outage is sent, and a later one that has ended is not', 'down up down up', '1:up'],
  ['the new status in a known outage is sent', 'down degraded', '1:degraded'],
  ['an unknown outage is sent with its current status', 'up down degraded', '1:down 2:degraded'],
  ['degraded is sent', 'up degraded', '1:degraded'],
  ['degraded in between is not sent', 'up degraded up', ''],
  ['a recovery from degraded is sent unchanged', 'degraded up', '1:up'],
  ['a recovery from degraded is sent without an outage in between', 'degraded down up', '2:up quietly'],
  ['an outage between degraded and degraded is not sent', 'degraded down up degraded', ''],
  ['a first verdict up is not sent', 'null up', ''],
  ['a first verdict down is sent', 'null down', '1:down'],
  ['a first outage that has ended is not sent', 'null down up', ''],
  ['the end of a known outage and degraded after it are sent', 'down up degraded', '1:up 2:degraded'],
]

for (const [title, run, expected] of ROWS) {
  t.test(title, async t => {
    t.equal(listPendingNotifications(withheldAfter(run)).map(write).join(' '), expected, run)
  })
}

t.test('only the end of a known outage is sent for a monitor that leaves the verdict', async t => {
  const rows: [string, string, SuppressedChanges['outage']][] = [
    ['up down', '', 'untold'],
    ['up down degraded', '', 'untold'],
    ['down up', '1:up', 'none'],
    ['down up down', '1:up', 'untold'],
    ['down degraded', '', 'told'],
    ['up degraded', '', 'none'],
  ]
  for (const [run, expected, outage] of rows) {
    t.equal(listNotificationsOnRemoval(withheldAfter(run)).map(write).join(' '), expected, run)
    t.equal(withheldAfter(run).outage, outage, run)
  }
})

t.test('however often a monitor changes, what is kept of it stays small', async t => {
  const withheld = withheldAfter(`up ${'down degraded up degraded '.repeat(1_000)}down`)
  t.ok(JSON.stringify(withheld).length < 1_000)
})

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
