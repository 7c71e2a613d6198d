import type { Component, Components, Incident, Incidents, ScheduledMaintenance, Status } from 'statuspage.io'
import t from 'tap'
import type { ComponentStatus, OverallStatus } from '../../../control-plane/pages/core/types.ts'
import { STATUSPAGE_FILES } from '../../../control-plane/pages/public/feeds/statuspage.ts'
import { componentView, incidentView, pageView } from '../../support/page-view.ts'

/** The types of a Statuspage client: every field that they name is defined. */
function holds<Shape extends object>(
  t: Tap,
  value: unknown,
  keys: Record<keyof Shape, 'string' | 'boolean' | 'number' | 'object' | 'text?'>,
) {
  for (const [key, type] of Object.entries(keys) as [keyof Shape & string, string][]) {
    const held = (value as Record<string, unknown>)[key]
    const isRight = type === 'text?' ? held === null || typeof held === 'string' : typeof held === type
    t.ok(isRight && held !== undefined, `${key} is ${String(held)}`)
  }
}
type Tap = { ok(value: unknown, message: string): unknown }

const COMPONENT: Parameters<typeof holds<Component>>[2] = {
  created_at: 'string',
  description: 'text?',
  group: 'boolean',
  group_id: 'text?',
  id: 'string',
  name: 'string',
  only_show_if_degraded: 'boolean',
  page_id: 'string',
  position: 'number',
  showcase: 'boolean',
  start_date: 'text?',
  status: 'string',
  updated_at: 'string',
}
const INCIDENT: Parameters<typeof holds<Incident>>[2] = {
  created_at: 'string',
  id: 'string',
  impact: 'string',
  incident_updates: 'object',
  monitoring_at: 'text?',
  name: 'string',
  page_id: 'string',
  resolved_at: 'text?',
  shortlink: 'string',
  status: 'string',
  updated_at: 'string',
}
const PAGE: Parameters<typeof holds<Status['page']>>[2] = {
  id: 'string',
  name: 'string',
  time_zone: 'string',
  updated_at: 'string',
  url: 'string',
}

t.test('summary.json matches the types of a Statuspage client', async t => {
  const summary = JSON.parse(JSON.stringify(STATUSPAGE_FILES['summary.json'](pageView())))
  holds<Status['page']>(t, summary.page, PAGE)
  holds<Status['status']>(t, summary.status, { description: 'string', indicator: 'string' })
  for (const component of (summary as Components).components) holds<Component>(t, component, COMPONENT)
  for (const incident of (summary as Incidents).incidents) {
    holds<Incident>(t, incident, INCIDENT)
    for (const update of incident.incident_updates) {
      const text = 'string' as const
      holds(t, update, { body: text, created_at: text, display_at: text, id: text, incident_id: text, status: text })
    }
  }
  for (const one of summary.scheduled_maintenances) {
    holds<ScheduledMaintenance>(t, one, { ...INCIDENT, scheduled_for: 'string', scheduled_until: 'string' })
  }
  t.match(summary, {
    page: { name: 'Acme', url: 'https://picket.example.com/status/acme', updated_at: '2026-08-01T12:20:00.000Z' },
    status: { indicator: 'major', description: 'Some systems are out' },
    incidents: [{ name: 'Checkout is slow', impact: 'major', monitoring_at: '2026-08-01T12:20:00.000Z' }],
    scheduled_maintenances: [{ status: 'scheduled', impact: 'maintenance', components: [{ name: 'API' }] }],
  })
  t.equal(summary.incidents.length, 1, 'resolved incidents are in incidents.json only')
})

t.test('A group is a component with group true, and its members refer to it', async t => {
  const { components } = STATUSPAGE_FILES['components.json'](pageView())
  const [group, , unknown] = components.slice(1)
  t.match(group, { name: 'Interfaces', group: true, group_id: null, position: 2, status: 'partial_outage' })
  t.same(
    components.filter(one => one.group_id === group?.id).map(({ name, position }) => ({ name, position })),
    [
      { name: 'API', position: 1 },
      { name: 'Webhooks', position: 2 },
    ],
  )
  t.match(components[0], { name: 'Shop', group: false, group_id: null, position: 1, status: 'operational' })
  t.ok(unknown)
})

t.test('incidents.json contains open and past incidents with their updates', async t => {
  const { incidents } = STATUSPAGE_FILES['incidents.json'](pageView())
  t.match(incidents, [
    {
      name: 'Checkout is slow',
      resolved_at: null,
      incident_updates: [{ body: 'A fix is in place.', status: 'monitoring' }, { status: 'investigating' }],
      components: [{ name: 'Shop' }],
    },
    { name: 'Mail was late', impact: 'minor', resolved_at: '2026-07-30T09:00:00.000Z', monitoring_at: null },
  ])
})

t.test('Maintenance of a component does not affect another one of the same name', async t => {
  const [europe, america] = ['one', 'two'].map(id => ({
    kind: 'component' as const,
    component: componentView({ id, name: 'API' }),
  }))
  const maintenance = pageView().maintenance.map(one => ({ ...one, componentIds: ['one'], componentNames: ['API'] }))
  const summary = STATUSPAGE_FILES['summary.json'](pageView({ sections: [europe!, america!], maintenance }))
  t.same(
    summary.scheduled_maintenances[0]?.components.map(({ id }) => id),
    ['one'],
  )
})

const INDICATORS: [OverallStatus, string][] = [
  ['operational', 'none'],
  ['degraded', 'minor'],
  ['partial_outage', 'major'],
  ['outage', 'critical'],
  ['maintenance', 'maintenance'],
  ['unknown', 'none'],
]
t.test('The page has an indicator of Statuspage', async t => {
  for (const [status, indicator] of INDICATORS) {
    const view = pageView({ overall: { status, sentence: 'So it is' } })
    const own = { picket_status: status, picket_stale_since: null }
    t.same(STATUSPAGE_FILES['status.json'](view).status, { indicator, description: 'So it is', ...own })
  }
  const staleSince = '2026-11-01T12:00:00.000Z'
  t.match(STATUSPAGE_FILES['status.json'](pageView({ staleSince })).status, { picket_stale_since: staleSince })
})

t.test('Each JSON file says since when it is old', async t => {
  const staleSince = '2026-11-01T12:00:00.000Z'
  for (const [name, make] of Object.entries(STATUSPAGE_FILES)) {
    t.match(make(pageView({ staleSince })).page, { picket_stale_since: staleSince }, name)
    t.match(make(pageView()).page, { picket_stale_since: null }, name)
  }
})

const STATUSES: [ComponentStatus | 'maintenance', string][] = [
  ['operational', 'operational'],
  ['degraded', 'degraded_performance'],
  ['outage', 'major_outage'],
  ['maintenance', 'under_maintenance'],
  ['unknown', 'operational'],
]
t.test('Each component has a status of Statuspage', async t => {
  for (const [status, expected] of STATUSES) {
    const view = pageView({ sections: [{ kind: 'component', component: componentView({ status }) }] })
    t.equal(STATUSPAGE_FILES['components.json'](view).components[0]?.status, expected)
  }
})

/** The same record, which counts how often its properties are read. */
const counting = <T extends object>(record: T, count: () => void): T =>
  new Proxy(record, {
    get(target, key) {
      count()
      return Reflect.get(target, key)
    },
  })

t.test('A page with many empty groups and incidents is read a fixed number of times per file', async t => {
  let reads = 0
  const count = () => reads++
  const components = Array.from({ length: 300 }, (_, i) => counting(componentView({ id: `c${i}` }), count))
  const empty = { name: 'Empty', description: null, isCollapsed: false, status: 'unknown' as const, components: [] }
  const incidents = Array.from({ length: 500 }, (_, i) =>
    counting(incidentView({ id: `i${i}`, componentIds: [`c${i % 300}`] }), count),
  )
  const view = pageView({
    sections: [
      ...components.map(component => ({ kind: 'component' as const, component })),
      ...Array.from({ length: 100 }, (_, i) => ({ kind: 'group' as const, group: { ...empty, id: `g${i}` } })),
    ],
    openIncidents: incidents.slice(0, 100),
    pastIncidents: incidents.slice(100),
  })
  for (const [name, make] of Object.entries(STATUSPAGE_FILES)) {
    reads = 0
    make(view)
    t.ok(reads <= (components.length + incidents.length) * 30, `${name} reads ${reads} properties`)
  }
  const made = STATUSPAGE_FILES['incidents.json'](view).incidents
  t.same(
    made[301]?.components.map(({ id }) => id),
    ['c1'],
    'an incident has its own components only',
  )
})
