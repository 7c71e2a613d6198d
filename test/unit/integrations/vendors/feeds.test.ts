import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { findCatalogEntry } from '../../../../control-plane/integrations/vendors/dependencies/catalog.ts'
import { type FeedType, parseFeed } from '../../../../control-plane/integrations/vendors/feeds/index.ts'
import type { JsonMapping } from '../../../../control-plane/integrations/vendors/feeds/json.ts'
import { FeedError } from '../../../../control-plane/integrations/vendors/feeds/report.ts'

const NOW = new Date('2026-11-20T12:00:00.000Z')
const folder = new URL('../../../fixtures/vendors/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const parse = (type: FeedType, text: string, mapping: JsonMapping = {}, now = NOW) =>
  parseFeed(text, { url: 'https://status.acme.example/feed.json', type, mapping }, now)

const GOLDEN: [title: string, file: string, type: FeedType, mapping?: JsonMapping][] = [
  ['a Statuspage: open and resolved incidents, components, no maintenance', 'statuspage.json', 'statuspage'],
  ['a compatible page with null instead of an empty list', 'statuspage-of-others.json', 'statuspage'],
  ['the history of a Statuspage, with the newest status of each entry', 'statuspage-history.rss', 'rss'],
  ['a feed with an entry for each update', 'cloud-events.rss', 'rss'],
  ['a feed with the status in its titles', 'azure-style.rss', 'rss'],
  ['a history in Atom', 'history.atom', 'atom'],
  ['updates under one id, and a second incident with the same name', 'words-in-entries.rss', 'rss'],
  ['Google’s list of incidents', 'google-style.json', 'json', findCatalogEntry('google-cloud')!.feedMapping],
  ['Slack’s current state', 'slack-style.json', 'json', findCatalogEntry('slack')!.feedMapping],
]

for (const [title, file, type, mapping] of GOLDEN) {
  t.test(`The parser reads ${title}`, async t => {
    const report = parse(type, read(file), mapping)
    const expected = new URL(`${file}.expected.json`, folder)
    if (process.env.PICKET_WRITE_FIXTURES === '1') writeFileSync(expected, `${JSON.stringify(report, null, 2)}\n`)
    t.same(report, existsSync(expected) ? JSON.parse(readFileSync(expected, 'utf8')) : null)
  })
}

const rss = (...items: string[]) => `<rss version="2.0"><channel><title>t</title>${items.join('')}</channel></rss>`
const item = (title: string, date: string, id = title, text = '') =>
  `<item><title>${title}</title><guid>${id}</guid><pubDate>${date}</pubDate><description>${text}</description></item>`
const hoursAgo = (hours: number) => new Date(NOW.getTime() - hours * 3_600_000).toUTCString()
const listOpenTitles = (text: string, type: FeedType = 'rss', mapping: JsonMapping = {}) =>
  parse(type, text, mapping)
    .incidents.filter(({ status }) => status !== 'resolved')
    .map(({ title }) => title)

t.test('An entry without a status is open for a day, an entry with an open status for a week', async t => {
  t.same(listOpenTitles(rss(item('Errors', hoursAgo(23)))), ['Errors'])
  t.same(listOpenTitles(rss(item('Errors', hoursAgo(25)))), [])
  t.same(listOpenTitles(rss(item('Errors', hoursAgo(25), 'a', 'Status: Investigating'))), ['Errors'])
  t.same(listOpenTitles(rss(item('Errors', hoursAgo(24 * 8), 'a', 'Status: Investigating'))), [])
})

t.test('An entry with the title of one that has ended by its age is a new incident', async t => {
  const [silent, open] = ['', 'Status: Investigating']
  const cases: [what: string, text: string, earlier: number, later: number, expected: string[]][] = [
    ['without a status, after more than a day', silent, 30, 1, ['later']],
    ['without a status, within a day: an update', silent, 24, 1, ['earlier']],
    ['with an open status, after more than a week', open, 24 * 8, 1, ['later']],
    ['with an open status, within a week: an update', open, 24 * 6, 1, ['earlier']],
  ]
  for (const [what, text, earlier, later, expected] of cases) {
    const items = [
      item('API outage', hoursAgo(later), 'later', text),
      item('API outage', hoursAgo(earlier), 'earlier', text),
    ]
    const { incidents } = parse('rss', rss(...items))
    t.same(
      incidents.map(({ id }) => id),
      expected,
      what,
    )
    const startMs = NOW.getTime() - (expected[0] === 'later' ? later : earlier) * 3_600_000
    t.equal(Date.parse(incidents[0]!.started_at!), startMs, `${what}: its start`)
  }
})

t.test('An update belongs to its incident by its id, and when its date is in the future', async t => {
  const listIds = (...items: string[]) => parse('rss', rss(...items)).incidents.map(({ id }) => id)
  const [day, open] = [24, 'Status: Investigating']
  const repeated = [item('API outage', hoursAgo(1), 'b'), item('API outage', hoursAgo(3 * day), 'b')]
  t.same(
    listIds(...repeated, item('API outage', hoursAgo(3.5 * day), 'a')),
    ['a'],
    'an id that was merged by its title',
  )
  const future = item('API outage', hoursAgo(-48), 'b')
  t.same(listIds(future, item('API outage', hoursAgo(1), 'a')), ['a'])
  t.same(listIds(future, item('API outage', hoursAgo(6 * day), 'a', open)), ['a'])
})

t.test('An entry of 1970 is ignored, and one without a plausible date is open with an unknown start', async t => {
  t.same(listOpenTitles(rss(item('Errors', 'Thu, 01 Jan 1970 00:00:00 GMT'))), [])
  for (const date of [hoursAgo(-48), 'soon', '']) {
    const [incident] = parse('rss', rss(item('Errors', date))).incidents
    t.match(incident, { title: 'Errors', status: 'investigating', started_at: null }, date)
  }
})

t.test('The date of an entry is read with common names of zones, and from dc:date', async t => {
  const cases: [date: string, expected: string | null][] = [
    ['Fri, 20 Nov 2026 10:00:00 GMT', '2026-11-20T10:00:00.000Z'],
    ['Fri, 20 Nov 2026 10:00:00 +0530', '2026-11-20T04:30:00.000Z'],
    ['Fri, 20 Nov 2026 05:00:00 EST', '2026-11-20T10:00:00.000Z'],
    ['Fri, 20 Nov 2026 10:00:00 CET', '2026-11-20T09:00:00.000Z'],
    ['Fri, 20 Nov 2026 10:00:00 CEST', '2026-11-20T08:00:00.000Z'],
    ['Fri, 20 Nov 2026 10:00:00 BST', '2026-11-20T09:00:00.000Z'],
    ['Fri, 20 Nov 2026 10:00:00 JST', '2026-11-20T01:00:00.000Z'],
    ['Fri, 20 Nov 2026 10:00:00 AEST', '2026-11-20T00:00:00.000Z'],
    ['Fri, 20 Nov 2026 10:00:00 ACST', '2026-11-20T00:30:00.000Z'],
    ['Fri, 20 Nov 2026 10:00:00 XYZ', null],
  ]
  for (const [date, expected] of cases) {
    t.equal(parse('rss', rss(item('Errors', date))).incidents[0]?.started_at, expected, date)
  }
  t.same(listOpenTitles(rss(item('Errors', 'Wed, 18 Nov 2026 10:00:00 CET'))), [], 'an old entry has ended')
  const dated = '<item><title>Errors</title><dc:date>2026-11-20T10:00:00+01:00</dc:date></item>'
  const text = rss(dated).replace('<rss', '<rss xmlns:dc="http://purl.org/dc/elements/1.1/"')
  t.equal(parse('rss', text).incidents[0]?.started_at, '2026-11-20T09:00:00.000Z')
})

t.test('A new entry after a resolved one with the same name is a new incident', async t => {
  const text = rss(
    item('Errors', hoursAgo(1), 'c'),
    item('[Resolved] Errors', hoursAgo(3), 'b'),
    item('Errors', hoursAgo(5), 'a'),
  )
  const { incidents } = parse('rss', text)
  t.same(
    incidents.map(({ id, status }) => [id, status]),
    [
      ['c', 'investigating'],
      ['a', 'resolved'],
    ],
  )
})

const RESOLVED = [
  'Resolved: Errors',
  '[RESOLVED] Errors',
  'Errors - Resolved',
  'Errors – Mitigated',
  'Service is operating normally: [RESOLVED] Errors',
]
for (const title of RESOLVED)
  t.test(`“${title}” is resolved`, async t => t.same(listOpenTitles(rss(item(title, hoursAgo(1)))), []))

t.test('Announced maintenance is not an incident, and errors after it are', async t => {
  const work = ['Database maintenance', 'Scheduled upgrade of the network', 'Emergency maintenance in Paris']
  t.same(listOpenTitles(rss(...work.map(title => item(title, hoursAgo(1))))), [])
  t.same(listOpenTitles(rss(item('Errors after maintenance', hoursAgo(1)))), ['Errors after maintenance'])
})

const SEVERITIES: [title: string, severity: string][] = [
  ['Database outage', 'major'],
  ['The API is down', 'major'],
  ['Partial outage of exports', 'minor'],
  ['Elevated errors', 'minor'],
  ['Downloads are slow', 'minor'],
]
for (const [title, severity] of SEVERITIES) {
  t.test(`“${title}” is ${severity}`, async t => {
    t.equal(parse('rss', rss(item(title, hoursAgo(1)))).incidents[0]?.severity, severity)
  })
}

const summary = (incidents: unknown, more: object = {}) => JSON.stringify({ page: {}, incidents, ...more })
const STATED: [status: string, impact: string, expected: [status: string, severity: string]][] = [
  ['resolved', 'critical', ['resolved', 'critical']],
  ['Resolved: exports were not available', 'service not critical', ['resolved', 'minor']],
  ['Partially resolved', 'non-critical', ['investigating', 'minor']],
  ['not resolved', 'not available', ['investigating', 'minor']],
  ['Not yet fixed in Paris, fixed in Rome', 'partially_operational', ['investigating', 'minor']],
  ['unresolved', 'unavailable', ['investigating', 'major']],
  ['Not resolved, cause identified', 'Critical: logins are not possible', ['identified', 'critical']],
  ['Available soon', 'partially down', ['investigating', 'minor']],
  ['available', 'available', ['resolved', 'none']],
  ['No longer active', 'minor', ['resolved', 'minor']],
  ['no longer available', 'no longer available', ['investigating', 'minor']],
  ['Not resolved, no longer open to new users', 'minor', ['investigating', 'minor']],
]
for (const [status, impact, expected] of STATED) {
  t.test(`Status “${status}” and severity “${impact}” are ${expected.join(' and ')}`, async t => {
    const [incident] = parse('statuspage', summary([{ id: 'a', name: 'A', status, impact }])).incidents
    t.same([incident?.status, incident?.severity], expected)
  })
}

const TEXTS: [text: string, isOpen: boolean][] = [
  ['This issue has been resolved.', false],
  ['The issue reported earlier today has been resolved.', false],
  ['A previous incident was resolved yesterday; this problem is ongoing', true],
  ['We see errors. The earlier network issue has been fixed.', true],
  ['A previous incident was resolved. Now this problem is fixed, too: the issue was resolved at noon.', false],
]
for (const [text, isOpen] of TEXTS) {
  t.test(`The text “${text}” is ${isOpen ? 'not ' : ''}the end of an incident`, async t => {
    t.same(listOpenTitles(rss(item('Errors', hoursAgo(1), 'a', text))), isOpen ? ['Errors'] : [])
  })
}

const WRONG: [title: string, type: FeedType, text: string, message: RegExp][] = [
  ['a web page instead of JSON', 'statuspage', '<!doctype html><p>Sorry', /a web page, not JSON/],
  ['half a document', 'json', '{"incidents": [', /not JSON/],
  ['another document', 'statuspage', '{"ok":true}', /not a Statuspage summary/],
  ['incidents that are not a list', 'statuspage', summary({ a: 1 }), /not a Statuspage summary/],
  ['a web page instead of RSS', 'rss', '<!doctype html><html><body>Sorry</body></html>', /not an RSS feed/],
  ['Atom for RSS', 'rss', read('history.atom'), /the feed is Atom/],
  ['RSS for Atom', 'atom', read('cloud-events.rss'), /the feed is RSS/],
  ['nothing', 'atom', '', /not an Atom feed/],
  ['no list of incidents', 'json', '{"events":[]}', /no list of incidents at incidents/],
  ['100,000 levels of elements', 'rss', `<rss>${'<a>'.repeat(100_000)}`, /not an RSS feed/],
  ['a tag without an end', 'rss', rss(`<item ${'a="1" '.repeat(20_000)}></item>`), /a tag in the feed is longer/],
  ['100,000 levels of lists', 'json', '['.repeat(100_000), /not JSON|no list/],
]
function catchError(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}
for (const [title, type, text, message] of WRONG) {
  t.test(`${title[0]!.toUpperCase()}${title.slice(1)} is a feed error and closes no incident`, async t => {
    const error = catchError(() => parse(type, text))
    t.ok(error instanceof FeedError)
    t.match(error, { message })
  })
}

t.test('An entity bomb is not expanded', async t => {
  const entities = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join('')
  const bomb = `<!DOCTYPE x [<!ENTITY l0 "lol">${entities}]>${rss(item('&l9;', hoursAgo(1)))}`
  const before = process.cpuUsage()
  const [incident] = parse('rss', bomb).incidents
  t.ok(!incident || incident.title.length <= 200)
  const { user, system } = process.cpuUsage(before)
  t.ok(user + system < 2_000_000, `${(user + system) / 1_000} ms of the processor`)
})

/** As many of the shortest incidents as fit in 5 MiB. */
const MANY = 370_000
const SLOW: [title: string, type: FeedType, text: string][] = [
  ['a severity of 600,000 words', 'json', `{"incidents":[{"title":"A","severity":"${'planned '.repeat(600_000)}"}]}`],
  ['370,000 incidents', 'json', `{"incidents":[${'{"title":"A"},'.repeat(MANY)}{"title":"A"}]}`],
  ['370,000 incidents of a Statuspage', 'statuspage', summary(Array(MANY).fill({ name: 'A' }))],
]
for (const [title, type, text] of SLOW) {
  t.test(`${title[0]!.toUpperCase()}${title.slice(1)} do not block the event loop`, async t => {
    const before = process.cpuUsage()
    t.match(parse(type, text).incidents, [{ title: 'A' }])
    const { user, system } = process.cpuUsage(before)
    t.ok(user + system < 5_000_000, `${(user + system) / 1_000} ms of the processor`)
  })
}

t.test('A report with too many incidents, repeated ids, markup and control characters is normalized', async t => {
  const made = Array.from({ length: 10_000 }, (_, i) => ({
    id: i < 9_000 ? 'twice' : `id ${i}`,
    name: `<img src=x onerror=alert(1)>Out\u0000age \u202e\ud800 ${'x'.repeat(300)}`,
    impact: 'critical',
    status: i === 9_999 ? 'investigating' : 'resolved',
    components: Array.from({ length: 60 }, (_, i) => ({ name: `c${i}` })),
    started_at: '2026-11-20T00:00:00Z',
    shortlink: 'javascript:alert(1)',
    __proto__: { id: 'inherited' },
  }))
  const { incidents } = parse('statuspage', summary(made))
  t.equal(incidents.length, 200)
  t.equal(incidents[0]?.id, 'id 9999', 'open incidents come first')
  t.equal(new Set(incidents.map(({ id }) => id)).size, 200)
  for (const { title, components, source_url } of incidents) {
    t.match(title, /^Out age/)
    t.notMatch(title, /[<>\u202e]|\p{Cc}|\p{Surrogate}/u)
    t.ok(title.length <= 200 && components.length === 50 && source_url === null)
  }
})

t.test('Implausible times are ignored', async t => {
  const times = ['1970-01-01T00:00:00Z', '2099-01-01T00:00:00Z', 'yesterday', 0, null, {}]
  for (const started_at of times) {
    const { incidents } = parse('statuspage', summary([{ id: 'a', name: 'A', started_at }]))
    t.equal(incidents[0]?.started_at, null, String(started_at))
  }
  const seconds = parse('json', JSON.stringify({ incidents: [{ id: 1, title: 'A', started_at: 1_795_000_000 }] }))
  t.equal(seconds.incidents[0]?.started_at, '2026-11-18T11:06:40.000Z')
})
