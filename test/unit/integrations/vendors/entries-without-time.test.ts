import t from 'tap'
import { parseFeed } from '../../../../control-plane/integrations/vendors/feeds/index.ts'
import { computeReportEffects } from '../../../../control-plane/integrations/vendors/incidents/report-changes.ts'
import type { Dependency, VendorIncident } from '../../../../control-plane/integrations/vendors/types.ts'

const START_MS = Date.parse('2026-11-20T12:00:00.000Z')
const HOUR_MS = 3_600_000
const DEPENDENCY = {
  ...{ id: 'd1', projectId: 'p1', statusUrl: 'https://status.acme.example', components: [], isBaselined: true },
} as unknown as Dependency

/** Reads a feed at the given hours. Returns what was announced, whether the feed is settled, and the incidents at the end. */
function readAt(hours: number[], item: string) {
  const known = new Map<string, VendorIncident>()
  const rss = `<rss version="2.0"><channel><title>t</title><item><guid>1</guid>${item}</item></channel></rss>`
  const reads = hours.map(hour => {
    const now = new Date(START_MS + hour * HOUR_MS)
    const report = parseFeed(rss, { url: 'https://status.acme.example/feed', type: 'rss', mapping: {} }, now)
    const context = { missingReadsBeforeClose: 3, budget: 10, now, newId: () => `i${known.size}` }
    const { incidents, changes, isSettled } = computeReportEffects(DEPENDENCY, [...known.values()], report, context)
    for (const incident of incidents) known.set(incident.id, incident)
    return [changes.map(({ name }) => name).join(), isSettled]
  })
  return { reads, known: [...known.values()] }
}

const NEVER: [string, string][] = [
  ['without a date', ''],
  ['with a date that cannot be read', '<pubDate>soon</pubDate>'],
  ['with a date in the far future', '<pubDate>Thu, 01 Jan 2099 00:00:00 GMT</pubDate>'],
]
for (const [title, date] of NEVER) {
  t.test(`An entry ${title} ends a day after it was first read, and stays ended while it is listed`, async t => {
    const { reads, known } = readAt([0, 1, 24, 25, 26, 1_000], `<title>Errors</title>${date}`)
    t.same(reads, [
      ['vendor.degraded', false],
      ['', false],
      ['', false],
      ['vendor.resolved', true],
      ['', true],
      ['', true],
    ])
    t.match(known, [{ status: 'resolved', resolvedAt: new Date(START_MS + 25 * HOUR_MS) }])
  })
}

t.test('An entry without a date that says that it is open ends after a week', async t => {
  const { reads } = readAt([0, 25, 168, 169], '<title>Errors</title><description>Status: Investigating</description>')
  t.same(reads, [
    ['vendor.degraded', false],
    ['', false],
    ['', false],
    ['vendor.resolved', true],
  ])
})

t.test('A feed whose entries have dates is settled at once', async t => {
  const { reads } = readAt([0, 1], '<title>Errors</title><pubDate>Fri, 20 Nov 2026 11:00:00 GMT</pubDate>')
  t.same(reads, [
    ['vendor.degraded', true],
    ['', true],
  ])
})
