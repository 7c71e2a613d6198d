import t from 'tap'
import type { PageView } from '../../../control-plane/pages/core/types.ts'
import { renderAtom } from '../../../control-plane/pages/public/feeds/atom.ts'
import { renderRss } from '../../../control-plane/pages/public/feeds/rss.ts'
import { STATUSPAGE_FILES } from '../../../control-plane/pages/public/feeds/statuspage.ts'
import type { PageData } from '../../../control-plane/pages/public/view/page-data.ts'
import { buildPageView } from '../../../control-plane/pages/public/view/page-view.ts'
import { renderPage } from '../../../control-plane/pages/templates/document/render.ts'

const NOW = new Date('2026-05-01T12:00:00Z')
const DAY_MS = 86_400_000
const daysAgo = (days: number) => new Date(NOW.getTime() - days * DAY_MS)
const MONITOR = '01890000-0000-7000-8000-0000000000ff'
const toId = (n: number) => `01890000-0000-7000-8000-${String(n).padStart(12, '0')}`

type Size = { components: number; open?: number; resolved?: number; windows?: number; days?: number }

/** A page whose components all show one monitor. All incidents and maintenance windows are about it. */
function largePage({ components, open = 0, resolved = 0, windows = 0, days = 1 }: Size): PageView {
  const page = { id: toId(1), name: 'P', slug: 'p', template: 'minimal', brandColor: '#2563eb', customDomain: null }
  const monitor = { id: MONITOR, status: 'up', isPaused: false, changedAt: null }
  const data = {
    page: { ...page, logo: null, favicon: null, showResponseTimes: false, showUptimePercentage: true },
    groups: [],
    components: Array.from({ length: components }, (_, i) => ({
      ...{ id: toId(1_000 + i), name: `Part${i}`, groupId: null, displayOrder: i, description: null },
      ...{ status: null, monitorId: MONITOR, monitor, updatedAt: NOW },
    })),
    times: [
      {
        ...{ monitorId: MONITOR, status: 'up', isMaintenance: false },
        from: daysAgo(90),
        to: NOW,
        seconds: 90 * 86_400,
      },
    ],
    incidents: Array.from({ length: open + resolved }, (_, i) => ({
      ...{ id: toId(9_000 + i), title: `Case${i}`, severity: 'minor', source: 'manual', outage: null },
      ...{ status: i < open ? 'investigating' : 'resolved', resolvedAt: i < open ? null : daysAgo(1 / 24) },
      ...{ startedAt: daysAgo(days), monitorIds: [MONITOR], updates: [], postmortem: null },
    })),
    maintenance: Array.from({ length: windows }, (_, i) => ({
      ...{ windowId: toId(20_000 + i), title: 'Move', description: null, monitorIds: [MONITOR] },
      ...{ startsAt: daysAgo(-1), endsAt: daysAgo(-2) },
    })),
    noticedMaintenance: [],
    medians: null,
  } as unknown as PageData
  return buildPageView(data, { origin: 'https://picket.example.com', path: '/status/p' }, null, NOW)
}

const count = (text: string, part: string | RegExp) => text.split(part).length - 1
const COMPONENT = /Part\d+/

t.test('The page names 20 components of an incident and says how many more are affected', async t => {
  const { html } = renderPage(largePage({ components: 500, open: 2, resolved: 3, windows: 2 }))
  t.equal(count(html, 'Part18, Part19 and 480 more'), 7, 'incidents and maintenance')
  t.notMatch(html, /Part19, Part20/)
  const small = renderPage(largePage({ components: 20, open: 1 })).html
  t.match(small, 'Part18, Part19<')
})

t.test('A page with 500 components and 500 incidents stays small, with all its feeds and files', async t => {
  for (const size of [{ resolved: 500 }, { open: 500 }, { open: 250, resolved: 250, windows: 100 }]) {
    const view = largePage({ components: 500, ...size })
    const named = count(JSON.stringify(view), COMPONENT)
    t.ok(named <= 500 + 600 * 20, `the view has ${named} names`)
    const documents = { page: renderPage(view).html, rss: renderRss(view), atom: renderAtom(view) }
    for (const [name, text] of Object.entries(documents)) {
      const names = count(text, COMPONENT)
      t.ok(names <= 500 * 3 + 600 * 20, `${name}: ${names} names`)
      t.ok(text.length < 3_000_000, `${name}: ${text.length} characters`)
    }
    for (const [name, make] of Object.entries(STATUSPAGE_FILES)) {
      const records = count(JSON.stringify(make(view)), '"only_show_if_degraded"')
      t.ok(records <= 500 + 2_000 + 600, `${name}: ${records} component records`)
    }
  }
})

t.test('JSON files list all components of unresolved incidents and 20 of each resolved one', async t => {
  const view = largePage({ components: 500, open: 3, resolved: 2 })
  const { incidents } = STATUSPAGE_FILES['incidents.json'](view)
  t.same(
    incidents.map(one => [one.components.length, one.picket_component_count]),
    [
      [500, 500],
      [500, 500],
      [500, 500],
      [20, 500],
      [20, 500],
    ],
  )
})

t.test('After 2,000 components in JSON files, each incident lists its first one', async t => {
  const view = largePage({ components: 500, open: 6, windows: 1, resolved: 1 })
  const summary = STATUSPAGE_FILES['summary.json'](view)
  const listed = [...summary.incidents, ...summary.scheduled_maintenances].map(one => one.components.length)
  t.same(
    listed.toSorted((a, b) => b - a),
    [500, 500, 500, 500, 1, 1, 1],
  )
  t.ok([...summary.incidents, ...summary.scheduled_maintenances].every(one => one.picket_component_count === 500))
  t.same(
    STATUSPAGE_FILES['incidents.json'](view)
      .incidents.at(-1)
      ?.components.map(({ name }) => name),
    ['Part0'],
  )
})

t.test('The days of bars name few incidents when there are very many, and count the others', async t => {
  const view = largePage({ components: 500, open: 500, days: 80 })
  const { html } = renderPage(view)
  const titles = count(html, /<i dir="auto">Case\d+<\/i>/)
  t.ok(titles <= 5_000, `${titles} titles`)
  t.equal(count(html, '<i>500 incidents</i>'), 500 * 81)

  const one = renderPage(largePage({ components: 1, open: 12, days: 0.1 })).html
  t.equal(count(one, /<i dir="auto">Case\d+<\/i>/), 10)
  t.match(one, '<i>and 2 more</i>')
  const few = renderPage(largePage({ components: 50, open: 10, days: 0.1 })).html
  t.equal(count(few, /<i dir="auto">Case\d+<\/i>/), 500, 'a usual page names all of them')
})
