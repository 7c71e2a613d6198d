import t from 'tap'
import { ago, buildBoard, VIEWER } from '../../support/dashboard-fixtures.ts'
import { renderScreen, type ScreenState, toText } from '../../support/dashboard-screens.tsx'

const AWAY = { status: 503, code: 'unavailable', message: 'temporarily unavailable; try again shortly' }
const show = (search = '', state: ScreenState = {}) => {
  const { html, title } = renderScreen(`/monitors${search}`, { board: BOARD, ...state })
  return { html, title, text: toText(html) }
}
const rowsIn = (html: string) => html.split('aria-rowindex').length - 1

const BOARD = buildBoard([
  { id: 'm1', name: 'Shop', status: 'down', since: ago(5), tags: ['prod', 'team one'], cause: 'timed out' },
  { name: 'Search', status: 'degraded', since: ago(60) },
  { name: 'Mail', since: ago(60 * 50), tags: ['prod'] },
  { name: 'New', status: null },
  { name: 'Old', isPaused: true },
])

t.test('Every monitor is a row with status, cause, tags and duration, trouble first', t => {
  const { html, text, title } = show()
  t.equal(title, 'Monitors · Picket')
  t.equal(rowsIn(html), 5)
  t.match(html, 'aria-rowcount="6"')
  const order = ['Shop Down timed out prod team one 5 min', 'Search Degraded', 'New Unknown', 'Mail Up', 'Old Paused']
  t.same(
    order.map(part => text.indexOf(part)),
    order.map(part => text.indexOf(part)).sort((a, b) => a - b),
  )
  for (const part of order) t.match(text, part)
  t.match(text, 'Mail Up prod 2 d 2 h')
  t.match(html, 'href="/monitors/m1"')
  t.match(html, 'href="/monitors?q=tag%3A%22team%20one%22"')
  t.end()
})

t.test('A row says until when its monitor is silenced, and not after that', t => {
  const board = buildBoard([
    { id: 'm1', name: 'Shop', silencedUntil: ago(-25) },
    { id: 'm2', name: 'Mail', silencedUntil: ago(1) },
    { id: 'm3', name: 'Search' },
  ])
  const { html, text } = show('', { board })
  t.match(text, /Shop ?, silenced until 21 Nov 2026, 14:30:30 UTC Up/)
  t.equal(html.split('class="silenced"').length - 1, 1)
  t.match(
    renderScreen('/', { board: buildBoard([{ name: 'Shop', status: 'down', silencedUntil: ago(-25) }]) }).html,
    'class="silenced"',
  )
  t.end()
})

t.test('The counts by status are links, and the current one is marked', t => {
  const { html, text } = show('?q=is:down')
  t.match(text, '1 down 1 degraded 1 unknown 1 up 1 paused all')
  t.match(html, /href="\/monitors\?q=is:down"[^>]*aria-current="true"/)
  t.equal(html.split('aria-current="true"').length - 1, 1)
  t.equal(rowsIn(html), 1)
  t.notMatch(show().text, /paused all\b/, 'without a filter there is nothing to take away')
  t.end()
})

t.test('The filter of the address selects rows, and is in the field', t => {
  const rows: [search: string, count: number, value: string][] = [
    ['?q=shop', 1, 'shop'],
    ['?q=tag:prod', 2, 'tag:prod'],
    ['?q=-is:up+-is:paused', 3, '-is:up -is:paused'],
    ['?tag=team+one', 1, 'tag:&quot;team one&quot;'],
    ['?q=is:up&tag=prod', 1, 'is:up tag:&quot;prod&quot;'],
  ]
  for (const [search, count, value] of rows) {
    const { html } = show(search)
    t.equal(rowsIn(html), count, search)
    t.match(html, `value="${value}"`, search)
  }
  t.end()
})

t.test('A filter without matches and one that is not understood say so', t => {
  t.match(show('?q=nothing').text, 'No monitor matches this filter.')
  const { html, text } = show('?q=is:broken')
  t.match(text, 'is: accepts up, down, degraded, paused, unknown.')
  t.equal(rowsIn(html), 5)
  t.match(show('', { board: buildBoard([]) }).text, 'There are no monitors yet.')
  t.end()
})

t.test('A part of a long list is shown, with the number of all and a link to more', t => {
  const board = buildBoard(Array.from({ length: 1_234 }, (_, i) => ({ name: `m${i}` })))
  const { html, text } = show('?q=m', { board })
  t.equal(rowsIn(html), 40)
  t.match(html, 'aria-rowcount="1235"')
  t.match(text, '40 of 1,234 Show more')
  t.match(html, 'href="/monitors?q=m&amp;rows=240"')
  t.equal(rowsIn(show('?rows=240', { board }).html), 240)
  t.end()
})

t.test('A number of rows that is not one is ignored, and a large one is limited', t => {
  const board = buildBoard(Array.from({ length: 3_000 }, (_, i) => ({ name: `m${i}` })))
  for (const rows of ['-1', '0', '0.5', '1e9', 'Infinity', 'NaN', '', 'x', '60 '])
    t.equal(rowsIn(show(`?rows=${encodeURIComponent(rows)}`, { board }).html), 40, rows)
  t.equal(rowsIn(show('?rows=99999', { board }).html), 2_000)
  t.end()
})

t.test('Loading, an error and old data have different texts', t => {
  t.match(show('', { loading: 'everything' }).html, 'class="skeleton"')
  const failed = show('', { errors: { readMonitorBoard: AWAY } })
  t.match(failed.text, `The monitors cannot be shown: ${AWAY.message}.`)
  t.match(failed.html, 'type="search"', 'the filter stays')
  const old = show('', { errors: { readMonitorBoard: AWAY }, isOld: true })
  t.match(old.text, `The monitors are from 1 min ago : ${AWAY.message}.`)
  t.equal(rowsIn(old.html), 5)
  t.end()
})

t.test('The list works without a script, and viewers cannot create a monitor', t => {
  const { html } = show()
  t.match(html, /<form[^>]*action="\/monitors"/)
  t.match(html, /<button type="submit">Filter<\/button>/)
  t.notMatch(show('', { isInteractive: true }).html, /<button type="submit">Filter<\/button>/)
  t.match(html, 'href="/monitors/new"')
  const viewer = show('', { me: VIEWER })
  t.notMatch(viewer.html, 'href="/monitors/new"')
  t.equal(rowsIn(viewer.html), 5)
  t.end()
})

t.test('Rows can be selected by those who may change monitors, and not by viewers', t => {
  const { html } = show('', { isInteractive: true })
  t.equal(html.split('type="checkbox"').length - 1, 6, 'one for each row, and one for all')
  t.match(html, 'aria-label="Select Shop"')
  t.match(show().html, /aria-label="Select Shop"[^>]*disabled/, 'nothing happens without scripts')
  t.notMatch(show('', { me: VIEWER, isInteractive: true }).html, 'type="checkbox"')
  t.end()
})
