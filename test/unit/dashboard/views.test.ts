import t from 'tap'
import { buildList } from '../../support/dashboard-answers.ts'
import { ADMIN, VIEWER } from '../../support/dashboard-fixtures.ts'
import { renderScreen, type ScreenState, toText } from '../../support/dashboard-screens.tsx'

const buildView = (name: string, query: string, is_shared = false) => ({
  ...{ id: name, name, query, is_shared, created_at: '2026-11-01T00:00:00Z', updated_at: '2026-11-01T00:00:00Z' },
})
const VIEWS = { listViews: buildList([buildView('Mine', 'is:down'), buildView('Shop', 'tag:shop', true)]) }
const show = (search = '', state: ScreenState = {}) => {
  const { html } = renderScreen(`/monitors${search}`, { answers: VIEWS, ...state })
  return { html, text: toText(html) }
}

t.test('Saved filters are links of the list, and the current one is marked', t => {
  const { html, text } = show('?q=tag:shop')
  t.match(html, /<nav aria-label="Views">/)
  t.match(html, 'href="/monitors?q=is:down"')
  t.match(html, /href="\/monitors\?q=tag:shop"[^>]*aria-current="true"/)
  t.match(text, 'Edit view')
  t.notMatch(text, 'Save as view')
  t.end()
})

t.test('A query that is not saved can be saved, and without a query there is nothing to save', t => {
  t.match(show('?q=is:up').text, 'Save as view')
  t.notMatch(show('').text, /Save as view|Edit view/)
  t.notMatch(show('', { answers: { listViews: buildList([]) } }).html, 'class="views')
  t.match(show('?q=is:up').html, /<button[^>]*disabled[^>]*>Save as view/, 'not without scripts')
  t.end()
})

t.test('Viewers save and edit personal views, and only use shared ones', t => {
  t.match(show('?q=is:up', { me: VIEWER }).text, 'Save as view')
  t.match(show('?q=is:down', { me: VIEWER }).text, 'Edit view')
  t.notMatch(show('?q=tag:shop', { me: VIEWER }).text, 'Edit view')
  t.end()
})

t.test('Views that cannot be read are named, and the list stays', t => {
  const error = { status: 503, code: 'unavailable', message: 'temporarily unavailable; try again shortly' }
  const { text, html } = show('', { errors: { listViews: error } })
  t.match(text, 'The views cannot be shown: temporarily unavailable; try again shortly.')
  t.match(html, 'type="search"')
  t.end()
})

t.test('The theme and the density of the person are attributes of the page, without a script or a style', t => {
  const preferences = {
    theme: 'dark',
    density: 'comfortable',
    keyboard_shortcuts: true,
    time_zone: 'Asia/Tokyo',
  } as const
  const { page, html } = renderScreen('/', { me: { ...ADMIN, preferences } })
  t.match(page, '<html lang="en" data-theme="dark" data-density="comfortable">')
  t.notMatch(page, / style=/)
  t.match(toText(html), 'Times are in the time zone Asia/Tokyo')
  t.match(renderScreen('/').page, '<html lang="en" data-theme="system" data-density="compact">')
  t.end()
})
