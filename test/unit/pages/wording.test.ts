import t from 'tap'
import { type ComponentView, TEMPLATE_NAMES } from '../../../control-plane/pages/core/types.ts'
import {
  formatDateRange,
  formatLongDate,
  formatShortDateTime,
  listPastDays,
  truncateToMinute,
} from '../../../control-plane/pages/templates/dates.ts'
import { renderPage } from '../../../control-plane/pages/templates/document/render.ts'
import { formatPercent } from '../../../control-plane/pages/templates/labels.ts'
import { groupPastDays } from '../../../control-plane/pages/templates/parts/incidents/past-days.ts'
import { buildDay, NOW, ordinaryView } from '../../support/status-page-view.ts'

t.test('Uptime is truncated, so 100 means no downtime at all', async t => {
  const cases: [number, string][] = [
    [100, '100'],
    [99.9999, '99.99'],
    [99.995, '99.99'],
    [99.9, '99.90'],
    [0, '0.00'],
    [33.333, '33.33'],
  ]
  for (const [percent, text] of cases) t.equal(formatPercent(percent), text)
})

t.test('Dates are in UTC', async t => {
  t.equal(formatShortDateTime(NOW), '21 Nov, 14:05 UTC')
  t.equal(formatLongDate('2026-11-21'), 'Saturday 21 November')
  t.equal(formatDateRange('2026-11-20', '2026-11-21'), '20–21 Nov')
  t.equal(formatDateRange('2026-10-30', '2026-11-02'), '30 Oct – 2 Nov')
  t.equal(formatDateRange('2026-11-02', '2026-11-02'), '2 Nov')
  t.equal(truncateToMinute(NOW), '2026-11-21T14:05:00.000Z')
  t.same(listPastDays('2026-03-01T00:00:10.000Z', 3), ['2026-03-01', '2026-02-28', '2026-02-27'])
})

t.test('Incidents are listed on the day of their start, and days without incidents are combined', async t => {
  const brief = (view: Parameters<typeof groupPastDays>[0]) =>
    groupPastDays(view).map(block =>
      'date' in block ? `${block.date} ${block.incidents.length}` : `${block.from}..${block.to}`,
    )
  const view = { ...ordinaryView(), openIncidents: [] }
  t.same(brief(view), [
    '2026-11-20..2026-11-21',
    '2026-11-19 1',
    '2026-11-14..2026-11-18',
    '2026-11-13 1',
    '2026-11-08..2026-11-12',
  ])
  t.same(brief({ ...view, pastIncidents: [] }), ['2026-11-08..2026-11-21'])
  const early = { ...view.pastIncidents[0]!, startedAt: '2026-10-02T00:00:00.000Z' }
  t.same(
    brief({ ...view, pastIncidents: [early] }),
    ['2026-11-20..2026-11-21', '2026-10-02 1'],
    'what began long ago comes last',
  )
  const long = { ...early, startedAt: '2026-11-10T23:00:00.000Z', resolvedAt: '2026-11-15T01:00:00.000Z' }
  t.same(
    brief({ ...view, pastIncidents: [long] }),
    ['2026-11-16..2026-11-21', '2026-11-10 1', '2026-11-08..2026-11-09'],
    'the later days of a long incident are not quiet',
  )
  const open = { ...early, startedAt: '2026-11-19T12:00:00.000Z', resolvedAt: null }
  t.same(brief({ ...view, openIncidents: [open], pastIncidents: [] }), ['2026-11-08..2026-11-18'])
  t.same(brief({ ...view, openIncidents: [{ ...open, startedAt: early.startedAt }], pastIncidents: [] }), [])
})

t.test('No template says that there was no incident on a day on which one was open', async t => {
  const [incident] = ordinaryView().openIncidents
  const view = { ...ordinaryView(), pastIncidents: [] }
  for (const template of TEMPLATE_NAMES) {
    const quiet = (startedAt: string) =>
      renderPage({ ...view, template, openIncidents: [{ ...incident!, startedAt }] }).html.match(
        /class="quiet"[^>]*>(<b>.*?<\/b>)/g,
      )
    t.match(quiet('2026-11-20T09:00:00.000Z'), [/8–19 Nov/], template)
    t.equal(quiet('2026-10-02T09:00:00.000Z'), null, template)
  }
})

t.test('A bar speaks of other days only when there are some', async t => {
  const [section] = ordinaryView().sections
  if (section?.kind !== 'component') return t.fail('the first section is a component')
  const renderRest = (days: NonNullable<ComponentView['days']>) => {
    const sections = [{ ...section, component: { ...section.component, days } }]
    return renderPage(ordinaryView({ sections })).html.match(/class="rest"[^>]*>(.*?)</)?.[1] ?? null
  }
  const unknown = Array.from({ length: 90 }, (_, i) => buildDay(i, 'unknown'))
  t.equal(renderRest(unknown), null, 'a new monitor has no operational day')
  t.equal(renderRest([...unknown.slice(1), buildDay(89, 'operational')]), 'All other days: operational.')
  t.equal(renderRest(unknown.map((_, i) => buildDay(i, 'operational'))), 'Operational on every day.')
})
