import { h } from 'preact'
import t from 'tap'
import { readRange } from '../../../control-plane/dashboard/core/time-range.ts'
import { PLOT, toX } from '../../../control-plane/dashboard/parts/charts/plot.ts'
import type { DayHistory } from '../../../control-plane/dashboard/parts/monitors/day-strip.tsx'
import { MonitorTable } from '../../../control-plane/dashboard/parts/monitors/monitor-table.tsx'
import { buildMonitor, HEALTHY_ANSWERS } from '../../support/dashboard-answers.ts'
import { ago, buildRow, NOW } from '../../support/dashboard-fixtures.ts'
import { renderPart, renderScreen, type ScreenState, toText } from '../../support/dashboard-screens.tsx'

const { id: ID } = buildMonitor()
const SPAN = readRange(new URLSearchParams('range=24h'), NOW)

/** The figures of the page of a monitor, by the name of the chart. */
function readFigures(state: ScreenState = {}, search = '') {
  const { html } = renderScreen(`/monitors/${ID}${search}`, state)
  const figures = html.match(/<figure>.*?<\/figure>/gs) ?? []
  return new Map(figures.map(figure => [/aria-label="(\w+)/.exec(figure)![1]!, figure]))
}

const parseRows = (figure: string) => [...figure.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) => toText(row!))

t.test('Behind each chart is a table with its figures', t => {
  const figures = readFigures()
  t.same([...figures.keys()], ['90', 'Response', 'Phases', 'Distribution'])
  for (const [name, figure] of figures) t.match(figure, '<details class="figures"><summary>Figures</summary>', name)
  const tables = new Map([...figures].map(([name, figure]) => [name, parseRows(figure)]))
  t.equal(tables.get('90')!.length, 91, 'a head and 90 days')
  t.ok(tables.get('90')!.some(row => row.endsWith('2 min 10 s down')))
  t.same(tables.get('Response'), [
    'Time Checks p50 p95 p99',
    ...[2, 1, 0].map(hours => `21 Nov 2026, ${14 - hours}:05:30 UTC 120 400 ms 700 ms 900 ms`),
  ])
  t.same(tables.get('Phases'), [
    'Time DNS Connect TLS First byte Transfer',
    ...[2, 1, 0].map(hours => `21 Nov 2026, ${14 - hours}:05:30 UTC 10 ms 20 ms 30 ms 300 ms 90 ms`),
  ])
  t.same(tables.get('Distribution'), [
    'Time < 100 ms < 500 ms ≥ 500 ms Failed',
    ...[1, 0].map(hours => `21 Nov 2026, ${14 - hours}:05:30 UTC 0 5 100 1`),
  ])
  t.end()
})

t.test('Outages, maintenance and changes of settings are marked at their times, in the charts of response times', t => {
  const { data } = HEALTHY_ANSWERS.readAnalyticsUptime!
  const interval = (status: 'down' | 'up', from: number, to: number, isMaintenance: boolean) => ({
    ...{ status, from: ago(from), to: ago(to), is_maintenance: isMaintenance },
  })
  const intervals = [
    interval('down', 600, 540, false),
    interval('up', 300, 180, true),
    // that of a planned outage is not an outage
    interval('down', 180, 120, true),
    interval('up', 120, 0, false),
  ]
  const figures = readFigures({ answers: { readAnalyticsUptime: { data: { ...data, intervals } } } }, '?range=24h')
  const at = (minutes: number) => toX(SPAN, NOW - minutes * 60_000)
  const readMarks = (figure: string, kind: string) =>
    [...figure.matchAll(new RegExp(`<rect class="${kind}" x="([\\d.]+)" y="[\\d.]+" width="([\\d.]+)"`, 'g'))].map(
      ([, x, width]) => [Number(x), Math.round(Number(x) + Number(width))],
    )
  for (const name of ['Response', 'Phases', 'Distribution']) {
    const figure = figures.get(name)!
    t.match(figure, `<line class="change" x1="${at(30)}"`, `${name}: the change half an hour ago`)
    t.same(readMarks(figure, 'outage'), [[at(600), Math.round(at(540))]], name)
    t.same(
      readMarks(figure, 'maintenance'),
      [
        [at(300), Math.round(at(180))],
        [at(180), Math.round(at(120))],
      ],
      name,
    )
  }
  const distribution = figures.get('Distribution')!
  const order = ['outage', 'heat', 'change'].map(kind => distribution.indexOf(` class="${kind}"`))
  t.same(
    order,
    order.toSorted((a, b) => a - b),
    'periods are behind the cells, changes in front',
  )
  t.notOk(order.includes(-1))
  t.match(figures.get('90'), '<rect class="change"')
  t.end()
})

t.test('The phases are stacked: each begins where the one below ends, and the top is their sum', t => {
  const figure = readFigures({}, '?range=7d').get('Phases')!
  const areas = [0, 1, 2, 3, 4].map(i => {
    const [, upper, lower] = new RegExp(`<path class="phase-${i}" d="M(.*?)L((?:[\\d.,]+L){2}[\\d.,]+)Z"`).exec(figure)!
    const points = (line: string) => line.split('L').map(point => Number(point.split(',')[1]))
    return { upper: points(upper!), lower: points(lower!).toReversed() }
  })
  const bottom = PLOT.height - PLOT.bottom
  t.same(areas[0]!.lower, [bottom, bottom, bottom])
  for (const [i, { lower, upper }] of areas.entries()) {
    if (i > 0) t.same(lower, areas[i - 1]!.upper, `phase ${i} is on phase ${i - 1}`)
    t.ok(upper.every((y, step) => y < lower[step]!))
  }
  // the axis ends at 500 ms, and the phases are 450 ms together
  const sum = Math.round((bottom - 0.9 * (bottom - PLOT.top)) * 10) / 10
  t.same(areas[4]!.upper, [sum, sum, sum])
  t.end()
})

t.test('A row of the list has its last 24 hours as 48 bars, and the p95', t => {
  const status = Array.from({ length: 48 }, (_, i) => (i < 40 ? 'up' : i < 44 ? 'down' : i < 46 ? 'degraded' : null))
  const strip = {
    ...{ cells: { status, failing_share: [] }, p95_ms: 1_250, uptime_24h: 91.66 },
  } as unknown as DayHistory
  const rows = [buildRow({ name: 'Shop' }), buildRow({ name: 'Mail' })]
  const strips = new Map([['Shop', strip]])
  const html = renderPart(h(MonitorTable, { rows, total: 2, label: 'Monitors', strips }))
  const [, shop, mail] = html.split(/<tr aria-rowindex/)
  t.match(toText(html), 'Regions Monitor Status Cause Tags 24 hours p95 For')
  t.match(shop, '<td class="aside number soft">1.25 s</td>')
  t.match(mail, '<td class="aside of-day"></td><td class="aside number soft"></td>', 'not read yet')
  const countBars = (kind: string) =>
    (new RegExp(`<path class="${kind}" d="([^"]*)"`).exec(shop!)?.[1] ?? '').split('M').length - 1
  t.match(shop, 'aria-label="Last 24 hours: up 91.66 %"')
  t.same(
    ['up', 'failing', 'degraded', 'none'].map(countBars),
    [40, 8, 2, 2],
    'two parts for each half hour that is down',
  )
  t.end()
})
