import t from 'tap'
import type {
  FeedReport,
  ReportedComponent,
  ReportedIncident,
} from '../../../../control-plane/integrations/vendors/feeds/report.ts'
import {
  computeReportEffects,
  MAX_NOTIFICATIONS_PER_HOUR,
} from '../../../../control-plane/integrations/vendors/incidents/report-changes.ts'
import type { Dependency, VendorIncident } from '../../../../control-plane/integrations/vendors/types.ts'

const START_MS = Date.parse('2026-11-20T12:00:00.000Z')
const DEPENDENCY = {
  id: 'd1',
  projectId: 'p1',
  statusUrl: 'https://status.acme.example',
  components: [],
  isBaselined: true,
} as unknown as Dependency

type Said = Partial<ReportedIncident> & { id: string }
const said = (incident: Said): ReportedIncident => ({
  title: `Title of ${incident.id}`,
  severity: 'minor',
  status: 'investigating',
  components: [],
  started_at: '2026-11-20T11:00:00.000Z',
  resolved_at: null,
  updated_at: null,
  source_url: null,
  ...incident,
})
const component = (name: string, severity: ReportedComponent['severity']) => ({ id: `id of ${name}`, name, severity })

/** What a feed says, minute after minute: its incidents, or a whole report. */
type Minute = Said[] | { incidents?: Said[]; components?: ReportedComponent[] }

/** Follows a feed from minute to minute; what each told, and what is known in the end. */
function run(minutes: Minute[], dependency: Partial<Dependency> = {}, patience = 2) {
  const known = new Map<string, VendorIncident>()
  const told: string[][] = []
  const settled: boolean[] = []
  let ids = 0
  let isBaselined = dependency.isBaselined ?? true
  for (const [minute, report] of minutes.entries()) {
    const { incidents = [], components = [] } = Array.isArray(report) ? { incidents: report } : report
    const spoken: FeedReport = { status: 'unknown', incidents: incidents.map(said), components }
    const now = new Date(START_MS + minute * 60_000)
    const inTheHour = [...known.values()].filter(({ toldAt }) => toldAt !== null).length
    const circumstances = { patience, budget: MAX_NOTIFICATIONS_PER_HOUR - inTheHour, now, newId: () => `i${++ids}` }
    const followed = computeReportEffects(
      { ...DEPENDENCY, ...dependency, isBaselined },
      [...known.values()].reverse(),
      spoken,
      circumstances,
    )
    isBaselined = true
    for (const incident of followed.incidents) known.set(incident.id, incident)
    told.push(followed.news.map(({ name, incident }) => `${name.slice('vendor.'.length)} ${incident.title.at(-1)}`))
    settled.push(followed.isSettled)
  }
  return { told, settled, known: [...known.values()] }
}

const over = { status: 'resolved' } as const
const A = { id: 'a' }
const ROWS: [title: string, minutes: Minute[], told: string[][]][] = [
  [
    'an incident is told once, however long it lasts, and once when it is over',
    [[A], [A], [{ ...A, ...over }], [{ ...A, ...over }]],
    [['degraded a'], [], ['resolved a'], []],
  ],
  [
    'a major one is down, and so is a critical one',
    [[{ ...A, severity: 'major' }], [{ ...A, severity: 'critical' }]],
    [['down a'], []],
  ],
  [
    'one that gets worse is told once more; one that gets better, or worse again, is not',
    [[A], [{ ...A, severity: 'critical' }], [A], [{ ...A, severity: 'major' }]],
    [['degraded a'], ['down a'], [], []],
  ],
  [
    'what is for information only is not told, nor its end, until something is impaired',
    [[{ ...A, severity: 'none' }], [A], [{ ...A, ...over }]],
    [[], ['degraded a'], ['resolved a']],
  ],
  ['information that ends is told to nobody', [[{ ...A, severity: 'none' }], []], [[], []]],
  ['one that is missing is over at the second time', [[A], [], []], [['degraded a'], [], ['resolved a']]],
  ['one that a cache left out once goes on', [[A], [], [A], [], [A]], [['degraded a'], [], [], [], []]],
  [
    'one that is opened again is the same: nobody is told twice',
    [[A], [{ ...A, ...over }], [A], [{ ...A, ...over }]],
    [['degraded a'], ['resolved a'], [], []],
  ],
  [
    'opened again and worse is news, and so is its end',
    [[A], [{ ...A, ...over }], [{ ...A, severity: 'major' }], [{ ...A, ...over }]],
    [['degraded a'], ['resolved a'], ['down a'], ['resolved a']],
  ],
  [
    'an id that comes again for what began later is another incident',
    [[A], [{ ...A, ...over }], [{ ...A, started_at: '2026-11-20T12:01:30.000Z' }]],
    [['degraded a'], ['resolved a'], ['degraded a']],
  ],
  [
    'ids that change each time are one incident while the title stays',
    [[{ id: '1', title: 'Errors x' }], [{ id: '2', title: 'Errors x' }], [{ id: '3', title: 'Errors x', ...over }]],
    [['degraded x'], [], ['resolved x']],
  ],
  ['what is over when it is first heard of is nothing', [[{ ...A, ...over }], []], [[], []]],
  [
    'two incidents are told apart',
    [[A, { id: 'b', severity: 'major' }], [{ id: 'b', severity: 'major' }], [{ id: 'b', severity: 'major' }]],
    [['degraded a', 'down b'], [], ['resolved a']],
  ],
]
for (const [title, minutes, told] of ROWS) t.test(title, async t => t.same(run(minutes).told, told))

t.test('what was there before the dependency is told to nobody, unless it gets worse', async t => {
  const isBaselined = false
  t.same(run([[A], [A], [{ ...A, ...over }]], { isBaselined }).told, [[], [], []])
  const worse = run([[A], [{ ...A, severity: 'major' }], [{ ...A, ...over }]], { isBaselined })
  t.same(worse.told, [[], ['down a'], ['resolved a']])
  t.same(run([[A], [A, { id: 'b' }]], { isBaselined }).told, [[], ['degraded b']])
})

t.test('the same report again changes nothing', async t => {
  const dependency = { ...DEPENDENCY }
  const report: FeedReport = { status: 'unknown', incidents: [said(A), said({ id: 'b', ...over })], components: [] }
  const circumstances = { patience: 2, budget: 5, now: new Date(START_MS), newId: () => 'i1' }
  const { incidents } = computeReportEffects(dependency, [], report, circumstances)
  const again = computeReportEffects(dependency, incidents, report, {
    ...circumstances,
    now: new Date(START_MS + 60_000),
  })
  t.same(again, { incidents: [], news: [], isSettled: true })
})

t.test(
  'a feed that makes up incidents is told ten times an hour at most, and what was not told has no end',
  async t => {
    const minutes = Array.from({ length: 30 }, (_, i) => [{ id: `new ${i}`, title: `Title ${i}` }])
    const { told, known } = run(minutes)
    t.equal(told.flat().filter(line => line.startsWith('degraded')).length, MAX_NOTIFICATIONS_PER_HOUR)
    t.equal(told.flat().filter(line => line.startsWith('resolved')).length, MAX_NOTIFICATIONS_PER_HOUR)
    t.equal(known.length, 30)
  },
)

t.test('while something is missing the feed is looked at again, though it says the same', async t => {
  t.same(run([[A], [], [], []]).settled, [true, false, true, true])
})

t.test('an incident ends when its vendor says so, never before it began', async t => {
  const end = (resolved_at: string | null) =>
    run([[A], [{ ...A, ...over, resolved_at }]]).known[0]?.resolvedAt?.toISOString()
  t.equal(end('2026-11-20T11:30:00.000Z'), '2026-11-20T11:30:00.000Z')
  t.equal(end('2026-11-20T10:30:00.000Z'), '2026-11-20T11:00:00.000Z')
  t.equal(end(null), '2026-11-20T12:01:00.000Z')
})

t.test('what the vendor says of itself is kept: title, severity, components, link', async t => {
  const changed: Said = {
    ...A,
    title: 'All of it',
    severity: 'major',
    components: ['API'],
    source_url: 'https://x.example/a',
  }
  const { known } = run([[A], [changed]])
  t.match(known, [{ title: 'All of it', severity: 'major', components: ['API'], sourceUrl: 'https://x.example/a' }])
  t.match(run([[A]]).known, [{ sourceUrl: 'https://status.acme.example' }], 'else the link is their status page')
})

const components = ['Git Operations', 'id of Pages']
const git = component('git operations', 'minor')
const OF_COMPONENTS: [title: string, minutes: Minute[], told: string[][]][] = [
  ['of named components others’ incidents are nothing', [[{ ...A, components: ['Actions'] }], [A]], [[], []]],
  [
    'their incidents count, by the components or the title',
    [[{ ...A, components: ['GIT operations'] }], [{ id: 'b', title: 'Git Operations: b' }]],
    [['degraded a'], ['degraded b']],
  ],
  ['a part of a word is no name', [[{ ...A, title: 'Digit Operations a' }]], [[]]],
  [
    'what comes to concern them is told when it does, and goes on',
    [[A], [{ ...A, components: ['Git Operations'] }], [A], [{ ...A, ...over }]],
    [[], ['degraded a'], [], ['resolved a']],
  ],
  [
    'a component that is impaired without an incident is told by itself',
    [{ components: [git] }, { components: [component('git operations', 'none')] }, {}],
    [['degraded d'], [], ['resolved d']],
  ],
  ['by its id too, and how bad it is', [{ components: [component('Pages', 'critical')] }], [['down e']]],
  [
    'an incident that follows is the same trouble',
    [
      { components: [git] },
      { components: [git], incidents: [{ ...A, components: ['git operations'] }] },
      [{ ...A, ...over }],
    ],
    [['degraded d'], [], ['resolved a']],
  ],
  [
    'an incident that names it in its title only, or in another case, is the same trouble',
    [
      { components: [git] },
      { components: [git], incidents: [{ ...A, title: 'Git Operations: a' }] },
      { components: [git], incidents: [{ ...A, components: ['Git Operations'] }] },
    ],
    [['degraded d'], [], []],
  ],
  [
    'a component that is still impaired when its incident is gone is the same trouble, and over with it',
    [
      { components: [git], incidents: [{ ...A, components: ['Git Operations'] }] },
      { components: [git] },
      { components: [git] },
      {},
      {},
    ],
    [['degraded a'], [], [], [], ['resolved d']],
  ],
  ['other components are nothing', [{ components: [component('Actions', 'critical')] }], [[]]],
]
for (const [title, minutes, told] of OF_COMPONENTS) {
  t.test(title, async t => t.same(run(minutes, { components }).told, told))
}

t.test('without names a component alone is nothing: pages of hundreds always have one', async t => {
  t.same(run([{ components: [component('Actions', 'critical')] }]).told, [[]])
})
