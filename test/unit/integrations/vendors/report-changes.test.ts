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

type ReportedDraft = Partial<ReportedIncident> & { id: string }
const toReported = (incident: ReportedDraft): ReportedIncident => ({
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

/** The content of a feed in one minute: its incidents, or a whole report. */
type Minute = ReportedDraft[] | { incidents?: ReportedDraft[]; components?: ReportedComponent[] }

/** Applies a report each minute. Returns what each minute announced and the incidents known at the end. */
function run(minutes: Minute[], dependency: Partial<Dependency> = {}, missingReadsBeforeClose = 2) {
  const known = new Map<string, VendorIncident>()
  const announced: string[][] = []
  const settled: boolean[] = []
  let ids = 0
  let isBaselined = dependency.isBaselined ?? true
  for (const [minute, report] of minutes.entries()) {
    const { incidents = [], components = [] } = Array.isArray(report) ? { incidents: report } : report
    const current: FeedReport = { status: 'unknown', incidents: incidents.map(toReported), components }
    const now = new Date(START_MS + minute * 60_000)
    const hourAgo = now.getTime() - 3_600_000
    const times = [...known.values()].map(({ announcedAt }) => announcedAt?.getTime() ?? 0)
    const inThisHour = times.filter(time => time > hourAgo).length
    const budget = MAX_NOTIFICATIONS_PER_HOUR - inThisHour
    const context = { missingReadsBeforeClose, budget, now, newId: () => `i${++ids}` }
    const effects = computeReportEffects(
      { ...DEPENDENCY, ...dependency, isBaselined },
      [...known.values()].reverse(),
      current,
      context,
    )
    isBaselined = true
    for (const incident of effects.incidents) known.set(incident.id, incident)
    announced.push(
      effects.changes.map(({ name, incident }) => `${name.slice('vendor.'.length)} ${incident.title.at(-1)}`),
    )
    settled.push(effects.isSettled)
  }
  return { announced, settled, known: [...known.values()] }
}

const over = { status: 'resolved' } as const
const A = { id: 'a' }
const ROWS: [title: string, minutes: Minute[], announced: string[][]][] = [
  [
    'An incident is announced once when it begins and once when it ends',
    [[A], [A], [{ ...A, ...over }], [{ ...A, ...over }]],
    [['degraded a'], [], ['resolved a'], []],
  ],
  [
    'A major or critical incident is down',
    [[{ ...A, severity: 'major' }], [{ ...A, severity: 'critical' }]],
    [['down a'], []],
  ],
  [
    'An incident that gets worse is announced once more, and one that improves or gets worse again is not',
    [[A], [{ ...A, severity: 'critical' }], [A], [{ ...A, severity: 'major' }]],
    [['degraded a'], ['down a'], [], []],
  ],
  [
    'An incident for information is announced only after something is impaired',
    [[{ ...A, severity: 'none' }], [A], [{ ...A, ...over }]],
    [[], ['degraded a'], ['resolved a']],
  ],
  ['The end of an incident for information is not announced', [[{ ...A, severity: 'none' }], []], [[], []]],
  ['An incident that is missing from two reads is closed', [[A], [], []], [['degraded a'], [], ['resolved a']]],
  ['An incident that is missing from one read continues', [[A], [], [A], [], [A]], [['degraded a'], [], [], [], []]],
  [
    'A reopened incident is not announced again',
    [[A], [{ ...A, ...over }], [A], [{ ...A, ...over }]],
    [['degraded a'], ['resolved a'], [], []],
  ],
  [
    'A reopened incident that is worse is announced, and so is its end',
    [[A], [{ ...A, ...over }], [{ ...A, severity: 'major' }], [{ ...A, ...over }]],
    [['degraded a'], ['resolved a'], ['down a'], ['resolved a']],
  ],
  [
    'A repeated id with a later start is a new incident',
    [[A], [{ ...A, ...over }], [{ ...A, started_at: '2026-11-20T12:01:30.000Z' }]],
    [['degraded a'], ['resolved a'], ['degraded a']],
  ],
  [
    'An incident with changing ids and the same title is one incident',
    [[{ id: '1', title: 'Errors x' }], [{ id: '2', title: 'Errors x' }], [{ id: '3', title: 'Errors x', ...over }]],
    [['degraded x'], [], ['resolved x']],
  ],
  ['An incident that is already resolved at its first read is ignored', [[{ ...A, ...over }], []], [[], []]],
  [
    'Two incidents are announced separately',
    [[A, { id: 'b', severity: 'major' }], [{ id: 'b', severity: 'major' }], [{ id: 'b', severity: 'major' }]],
    [['degraded a', 'down b'], [], ['resolved a']],
  ],
]
for (const [title, minutes, announced] of ROWS) t.test(title, async t => t.same(run(minutes).announced, announced))

t.test('An incident from before the dependency is announced only when it gets worse', async t => {
  const isBaselined = false
  t.same(run([[A], [A], [{ ...A, ...over }]], { isBaselined }).announced, [[], [], []])
  const worse = run([[A], [{ ...A, severity: 'major' }], [{ ...A, ...over }]], { isBaselined })
  t.same(worse.announced, [[], ['down a'], ['resolved a']])
  t.same(run([[A], [A, { id: 'b' }]], { isBaselined }).announced, [[], ['degraded b']])
})

t.test('The same report again changes nothing', async t => {
  const dependency = { ...DEPENDENCY }
  const report: FeedReport = {
    status: 'unknown',
    incidents: [toReported(A), toReported({ id: 'b', ...over })],
    components: [],
  }
  const context = { missingReadsBeforeClose: 2, budget: 5, now: new Date(START_MS), newId: () => 'i1' }
  const { incidents } = computeReportEffects(dependency, [], report, context)
  const again = computeReportEffects(dependency, incidents, report, {
    ...context,
    now: new Date(START_MS + 60_000),
  })
  t.same(again, { incidents: [], changes: [], isSettled: true })
})

t.test('At most ten incidents an hour are announced, and the ends of the others are not', async t => {
  const minutes = Array.from({ length: 30 }, (_, i) => [{ id: `new ${i}`, title: `Title ${i}` }])
  const { announced, known } = run(minutes)
  t.equal(announced.flat().filter(line => line.startsWith('degraded')).length, MAX_NOTIFICATIONS_PER_HOUR)
  t.equal(announced.flat().filter(line => line.startsWith('resolved')).length, MAX_NOTIFICATIONS_PER_HOUR)
  t.equal(known.length, 30)
})

t.test('An incident beyond ten an hour is announced later while it is open, and so is its end', async t => {
  const ten = Array.from({ length: 10 }, (_, i) => ({ id: `${i}`, title: `Title ${i}` }))
  const late = { id: 'late x' }
  const hour = Array.from({ length: 60 }, () => [...ten, late, { id: 'short y' }])
  const { announced, settled } = run([...hour, [...ten, late], [...ten, late], [...ten, { ...late, ...over }]])
  t.equal(announced[0]?.length, 10)
  t.same(announced.slice(1), [...Array(59).fill([]), ['degraded x'], [], ['resolved x']])
  t.same([settled[0], settled[59]], [false, false], 'an unchanged feed is looked at again')
})

t.test('An incident that waits to be announced is not announced while it is missing from the feed', async t => {
  const ten = Array.from({ length: 10 }, (_, i) => ({ id: `${i}`, title: `Title ${i}` }))
  const hour = Array.from({ length: 60 }, () => [...ten, { id: 'late x' }])
  const { announced, settled } = run([...hour, ten, ten, ten])
  t.same(announced.slice(1).flat(), [])
  t.equal(settled.at(-1), true)
})

t.test('A report with a missing incident is not settled', async t => {
  t.same(run([[A], [], [], []]).settled, [true, false, true, true])
})

t.test('An incident ends at the time that the vendor reports, never before its start', async t => {
  const end = (resolved_at: string | null) =>
    run([[A], [{ ...A, ...over, resolved_at }]]).known[0]?.resolvedAt?.toISOString()
  t.equal(end('2026-11-20T11:30:00.000Z'), '2026-11-20T11:30:00.000Z')
  t.equal(end('2026-11-20T10:30:00.000Z'), '2026-11-20T11:00:00.000Z')
  t.equal(end(null), '2026-11-20T12:01:00.000Z')
})

t.test('Title, severity, components and link of the vendor are stored', async t => {
  const changed: ReportedDraft = {
    ...A,
    title: 'All of it',
    severity: 'major',
    components: ['API'],
    source_url: 'https://x.example/a',
  }
  const { known } = run([[A], [changed]])
  t.match(known, [{ title: 'All of it', severity: 'major', components: ['API'], sourceUrl: 'https://x.example/a' }])
  t.match(run([[A]]).known, [{ sourceUrl: 'https://status.acme.example' }], 'the link defaults to the status page')
})

const components = ['Git Operations', 'id of Pages']
const git = component('git operations', 'minor')
const mirrors = [component('Git Operations', 'none'), component('Git Operations Mirror', 'critical')]
const OF_COMPONENTS: [title: string, minutes: Minute[], announced: string[][]][] = [
  ['Incidents of other components are ignored', [[{ ...A, components: ['Actions'] }], [A]], [[], []]],
  [
    'An incident counts by its components or its title',
    [[{ ...A, components: ['GIT operations'] }], [{ id: 'b', title: 'Git Operations: b' }]],
    [['degraded a'], ['degraded b']],
  ],
  [
    'A name in a title does not count as part of the longer name of another component',
    [
      { components: mirrors, incidents: [{ ...A, title: 'Git Operations Mirror: a' }] },
      { components: mirrors, incidents: [{ ...A, title: 'Git Operations Mirror, git operations: a' }] },
    ],
    [[], ['degraded a']],
  ],
  [
    'An incident about a component with a longer name does not continue an impaired component',
    [
      { components: [git, mirrors[1]!] },
      { components: [git, mirrors[1]!], incidents: [{ ...A, title: 'Git Operations Mirror: a' }] },
      { components: [mirrors[0]!, mirrors[1]!], incidents: [{ ...A, title: 'Git Operations Mirror: a' }] },
      { components: [mirrors[0]!, mirrors[1]!], incidents: [{ ...A, title: 'Git Operations Mirror: a' }] },
    ],
    [['degraded d'], [], [], ['resolved d']],
  ],
  ['A part of a word does not match a name', [[{ ...A, title: 'Digit Operations a' }]], [[]]],
  [
    'An incident that begins to affect a component is announced then, and continues',
    [[A], [{ ...A, components: ['Git Operations'] }], [A], [{ ...A, ...over }]],
    [[], ['degraded a'], [], ['resolved a']],
  ],
  [
    'An impaired component without an incident is announced',
    [{ components: [git] }, { components: [component('git operations', 'none')] }, {}],
    [['degraded d'], [], ['resolved d']],
  ],
  [
    'A component matches by its id, with its severity',
    [{ components: [component('Pages', 'critical')] }],
    [['down e']],
  ],
  [
    'An incident after an impaired component continues it',
    [
      { components: [git] },
      { components: [git], incidents: [{ ...A, components: ['git operations'] }] },
      [{ ...A, ...over }],
    ],
    [['degraded d'], [], ['resolved a']],
  ],
  [
    'An incident that has the component only in its title, or in another case, continues it',
    [
      { components: [git] },
      { components: [git], incidents: [{ ...A, title: 'Git Operations: a' }] },
      { components: [git], incidents: [{ ...A, components: ['Git Operations'] }] },
    ],
    [['degraded d'], [], []],
  ],
  [
    'A component that is still impaired after its incident was removed continues it',
    [
      { components: [git], incidents: [{ ...A, components: ['Git Operations'] }] },
      { components: [git] },
      { components: [git] },
      {},
      {},
    ],
    [['degraded a'], [], [], [], ['resolved d']],
  ],
  ['Other components are ignored', [{ components: [component('Actions', 'critical')] }], [[]]],
]
for (const [title, minutes, announced] of OF_COMPONENTS) {
  t.test(title, async t => t.same(run(minutes, { components }).announced, announced))
}

const bothRed = [component('Web', 'critical'), component('API', 'critical')]
const bothYellow = [component('Web', 'minor'), component('API', 'minor')]
const ofBoth: ReportedDraft = { ...A, severity: 'critical', components: ['Web', 'API'] }
const OF_TWO_COMPONENTS: [title: string, minutes: Minute[], announced: string[][]][] = [
  [
    'An incident continues all impaired components that it mentions, and its end is the only one',
    [
      { components: bothRed },
      { components: bothRed, incidents: [ofBoth] },
      { components: bothRed, incidents: [ofBoth] },
      [{ ...ofBoth, ...over }],
      [],
    ],
    [['down e', 'down e'], [], [], ['resolved a'], []],
  ],
  [
    'An incident that continues a degraded component and one that is down is not announced as down again',
    [
      { components: [component('Web', 'critical'), component('API', 'minor')] },
      { components: bothRed, incidents: [ofBoth] },
      { components: bothRed, incidents: [ofBoth] },
    ],
    [['down e', 'degraded d'], [], []],
  ],
  [
    'An incident for information does not continue the components that it mentions, and their ends are announced',
    [
      { components: [component('Web', 'critical')], incidents: [{ ...A, severity: 'none', title: 'News of API a' }] },
      { components: bothRed, incidents: [{ ...ofBoth, severity: 'none' }] },
      { components: bothRed, incidents: [{ ...ofBoth, severity: 'none' }] },
      [{ ...ofBoth, ...over }],
      [],
    ],
    [['down e'], ['down e'], [], [], ['resolved e', 'resolved e']],
  ],
  [
    'All components that are still impaired after their incident was removed continue it',
    [{ components: bothRed, incidents: [ofBoth] }, { components: bothRed }, { components: bothRed }, {}, {}],
    [['down a'], [], [], [], ['resolved e', 'resolved e']],
  ],
  [
    'Components that are still impaired when their incident is resolved continue it, and their ends are announced',
    [
      { components: bothRed, incidents: [ofBoth] },
      { components: bothRed, incidents: [{ ...ofBoth, ...over }] },
      { components: bothRed, incidents: [{ ...ofBoth, ...over }] },
      {},
      {},
    ],
    [['down a'], [], [], [], ['resolved e', 'resolved e']],
  ],
  [
    'A component that is impaired and was not in a resolved incident is announced, and so is the end of the incident',
    [
      { components: [component('Web', 'critical')], incidents: [{ ...A, severity: 'critical', components: ['Web'] }] },
      { components: [component('API', 'critical')], incidents: [{ ...A, ...over, components: ['Web'] }] },
    ],
    [['down a'], ['resolved a', 'down e']],
  ],
  [
    'Components that had incidents of their own continue the incident that absorbed them when it is removed',
    [
      { components: bothRed },
      { components: bothRed, incidents: [ofBoth] },
      { components: bothRed },
      { components: bothRed },
      {},
      {},
    ],
    [['down e', 'down e'], [], [], [], [], ['resolved e', 'resolved e']],
  ],
  [
    'A component that was degraded in the incident and is down after it is announced',
    [
      { components: bothYellow, incidents: [{ ...ofBoth, severity: 'minor' }] },
      { components: [component('Web', 'minor'), component('API', 'critical')] },
    ],
    [['degraded a'], ['down e']],
  ],
  [
    'An outage of a component that only an incident for information mentions is announced, and so is its end',
    [
      { incidents: [{ ...ofBoth, severity: 'none' }] },
      { components: [component('API', 'critical')], incidents: [{ ...ofBoth, severity: 'none' }] },
      { incidents: [{ ...ofBoth, severity: 'none' }] },
      { incidents: [{ ...ofBoth, severity: 'none' }] },
    ],
    [[], ['down e'], [], ['resolved e']],
  ],
  [
    'An incident gets worse with a component that it mentions, and is announced once more for it',
    [
      { components: [component('API', 'minor')], incidents: [{ ...ofBoth, severity: 'minor' }] },
      { components: [component('API', 'critical')], incidents: [{ ...ofBoth, severity: 'minor' }] },
      { components: [component('API', 'minor')], incidents: [{ ...ofBoth, severity: 'minor' }] },
      { components: [component('API', 'critical')], incidents: [{ ...ofBoth, severity: 'minor' }] },
      [{ ...ofBoth, ...over }],
    ],
    [['degraded a'], ['down a'], [], [], ['resolved a']],
  ],
  [
    'An incident that has a component in its title gets worse with it, and another incident does not',
    [
      {
        components: [component('API', 'critical'), component('Mail', 'critical')],
        incidents: [
          { ...A, title: 'API errors: a' },
          { id: 'b', title: 'Web errors: b' },
        ],
      },
    ],
    [['down a', 'degraded b']],
  ],
]
for (const [title, minutes, announced] of OF_TWO_COMPONENTS) {
  t.test(title, async t => t.same(run(minutes, { components: ['Web', 'API'] }).announced, announced))
}

t.test('Without component names the status of a component is ignored', async t => {
  t.same(run([{ components: [component('Actions', 'critical')] }]).announced, [[]])
})
