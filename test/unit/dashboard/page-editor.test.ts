import { Fragment, h } from 'preact'
import t from 'tap'
import { describeFound } from '../../../control-plane/dashboard/screens/pages/editor/components/add-items.tsx'
import {
  buildItems,
  findItemGroup,
  listSiblings,
  moveStep,
  planDrop,
} from '../../../control-plane/dashboard/screens/pages/editor/components/arrangement.ts'
import {
  toComponentForm,
  toComponentUpdate,
} from '../../../control-plane/dashboard/screens/pages/editor/components/component-form.tsx'
import {
  toGroupForm,
  toGroupUpdate,
} from '../../../control-plane/dashboard/screens/pages/editor/components/group-form.tsx'
import { buildDraftView } from '../../../control-plane/dashboard/screens/pages/editor/preview/draft-view.ts'
import { stageOutage } from '../../../control-plane/dashboard/screens/pages/editor/preview/staged-outage.ts'
import {
  findPageProblems,
  toPageForm,
  toPageUpdate,
} from '../../../control-plane/dashboard/screens/pages/editor/settings/page-form.ts'
import { findNewPageProblems, proposeSlug } from '../../../control-plane/dashboard/screens/pages/list/slug.ts'
import { renderHtml } from '../../../control-plane/foundation/web/html/render.ts'
import { renderPage } from '../../../control-plane/pages/templates/document/render.ts'
import { toText } from '../../support/dashboard-screens.tsx'
import { buildComponent, buildGroup, buildPage } from '../../support/page-records.ts'
import { emptyView, ordinaryView } from '../../support/status-page-view.ts'

const ITEMS = buildItems(
  [
    buildComponent({ id: 'mail', display_order: 5 }),
    buildComponent({ id: 'web', display_order: 1 }),
    buildComponent({ id: 'api', display_order: 9, group_id: 'core' }),
    buildComponent({ id: 'shop', display_order: 2, group_id: 'core' }),
    buildComponent({ id: 'lost', display_order: 7, group_id: 'on another page of the list' }),
  ],
  [buildGroup({ id: 'core', display_order: 3 })],
)

t.test('Components and groups are listed in the order that visitors see', async t => {
  t.same(listSiblings(ITEMS, null), ['web', 'core', 'mail', 'lost'])
  t.same(listSiblings(ITEMS, 'core'), ['shop', 'api'])
  t.equal(findItemGroup(ITEMS, 'api'), 'core')
  t.equal(findItemGroup(ITEMS, 'core'), null)
})

t.test('A step exchanges an item with its neighbour among its siblings', async t => {
  t.same(moveStep(ITEMS, 'core', -1), ['core', 'web', 'mail', 'lost'])
  t.same(moveStep(ITEMS, 'web', 1), ['core', 'web', 'mail', 'lost'])
  t.same(moveStep(ITEMS, 'api', -1), ['api', 'shop'])
  t.equal(moveStep(ITEMS, 'shop', -1), null, 'the first of its group')
  t.equal(moveStep(ITEMS, 'lost', 1), null)
  t.equal(moveStep(ITEMS, 'unknown', 1), null)
  t.same(moveStep(ITEMS, 'lost', 'first'), ['lost', 'web', 'core', 'mail'])
  t.same(moveStep(ITEMS, 'web', 'last'), ['core', 'mail', 'lost', 'web'])
  t.equal(moveStep(ITEMS, 'shop', 'first'), null, 'it is the first')
})

t.test('A drop moves an item before another one, to the end, or into a group', async t => {
  const at = (groupId: string | null, beforeId: string | null) => ({ groupId, beforeId })
  const cases: [string, ReturnType<typeof at>, ReturnType<typeof planDrop>][] = [
    ['mail', at(null, 'web'), { isOtherGroup: false, order: ['mail', 'web', 'core', 'lost'] }],
    ['web', at(null, null), { isOtherGroup: false, order: ['core', 'mail', 'lost', 'web'] }],
    ['web', at('core', null), { isOtherGroup: true, order: ['shop', 'api', 'web'] }],
    ['api', at(null, 'core'), { isOtherGroup: true, order: ['web', 'api', 'core', 'mail', 'lost'] }],
    ['web', at(null, 'core'), null],
    ['web', at(null, 'web'), null],
    ['core', at('core', 'api'), null],
  ]
  for (const [id, place, plan] of cases) t.same(planDrop(ITEMS, id, place), plan, `${id} ${JSON.stringify(place)}`)
})

t.test('An update contains the fields that differ, and empty texts are null', async t => {
  const page = buildPage()
  const form = toPageForm(page)
  t.equal(toPageUpdate(page, form), null)
  t.same(toPageUpdate(page, { ...form, custom_css: '', name: 'Acme' }), { name: 'Acme', custom_css: null })
  t.same(findPageProblems(form), [])
  t.match(findPageProblems({ ...form, name: ' ', brand_color: 'blue' }), [{ path: 'name' }, { path: 'brand_color' }])
})

t.test('The forms of components and groups send what differs, and no status that a monitor sets', async t => {
  const component = buildComponent({ description: 'The shop', group_id: 'g1' })
  const form = toComponentForm(component)
  t.equal(toComponentUpdate(component, form), null)
  t.same(toComponentUpdate(component, { ...form, description: '' }), { description: null })
  t.same(toComponentUpdate(component, { ...form, group_id: '', status: 'outage' }), {
    ...{ group_id: null, status: 'outage' },
  })
  t.equal(
    toComponentUpdate(buildComponent({ monitor_id: 'm1' }), toComponentForm(buildComponent({ status: 'outage' }))),
    null,
  )
  const group = buildGroup()
  t.equal(toGroupUpdate(group, toGroupForm(group)), null)
  t.same(toGroupUpdate(group, { ...toGroupForm(group), is_collapsed: true }), { is_collapsed: true })
})

t.test('The address of a page is proposed from its name', async t => {
  const cases = { 'Ähnliche Dienste!': 'ahnliche-dienste', '  Acme  ': 'acme', 状態: '', a: 'a', '-x-': 'x' }
  for (const [name, slug] of Object.entries(cases)) t.equal(proposeSlug(name), slug, name)
  t.match(proposeSlug(`${'long '.repeat(20)}`), /^[a-z-]{1,50}$/)
  t.match(findNewPageProblems({ name: '', slug: 'No' }), [{ path: 'name' }, { path: 'slug' }])
  t.same(findNewPageProblems({ name: 'Acme', slug: 'acme' }), [])
})

t.test('The draft shows what is typed, and hides figures as the server does', async t => {
  const view = ordinaryView()
  const form = { ...toPageForm(buildPage()), name: 'New name', template: 'terminal' as const, brand_color: '#12' }
  const hidden = { ...form, show_response_times: false, show_uptime_percentage: false }
  const draft = buildDraftView(view, hidden, '.page h1{color:red}')
  t.match(draft, { name: 'New name', template: 'terminal', brandColor: view.brandColor })
  const { html } = renderPage(draft)
  t.match(html, /New name/)
  t.match(html, /\.page h1\{color:red\}/)
  t.notMatch(JSON.stringify(draft.sections), /"uptimePercent":\d|"medianMs"/)
})

t.test('A staged outage shows a component in outage with an incident, on every page', async t => {
  const view = ordinaryView()
  const before = JSON.stringify(view)
  const staged = stageOutage(view)
  t.equal(JSON.stringify(view), before, 'the view itself stays')
  t.equal(staged.overall.status, 'partial_outage')
  t.match(staged.openIncidents, [{ title: /is down$/, status: 'identified', updates: [{}, {}] }])
  const statuses = staged.sections.flatMap(one =>
    one.kind === 'group' ? one.group.components.map(({ status }) => status) : one.component.status,
  )
  t.same(statuses.slice(0, 3), ['outage', 'degraded', 'maintenance'])
  t.match(renderPage(staged).html, /We have found the cause/)
  t.match(stageOutage(emptyView()).overall.sentence, /major incident/, 'also without components')
})

t.test('The list of monitors that can be added says why it is empty', async t => {
  const show = (count: number, isAll: boolean, shown: number, isComplete = true) =>
    toText(renderHtml(h(Fragment, null, describeFound(count, { isComplete, isAll, shown }))))
  t.equal(show(0, true, 0), 'There is no monitor yet. Create the first one')
  t.equal(show(0, true, 5), 'Every monitor is on the page.')
  t.equal(show(0, false, 5), 'No other monitor matches.')
  t.equal(show(2, true, 0), '2 monitors can be added.')
  t.equal(show(8, true, 0, false), 'The first 8 are shown; type to find others.')
})
