import t from 'tap'
import type { DisplayStatus } from '../../../control-plane/pages/core/types.ts'
import { buildChartPath } from '../../../control-plane/pages/templates/parts/charts/chart-path.ts'
import {
  buildBarLabel,
  buildBarPaths,
  groupDayRuns,
  listNotableRuns,
} from '../../../control-plane/pages/templates/parts/charts/day-runs.ts'
import { renderSparkline } from '../../../control-plane/pages/templates/parts/charts/sparkline.ts'
import { buildDay } from '../../support/status-page-view.ts'

const LETTERS: Record<string, DisplayStatus> = {
  o: 'operational',
  d: 'degraded',
  x: 'outage',
  m: 'maintenance',
  u: 'unknown',
}
/** "uuox": two unknown days, a good day, an outage. */
const days = (letters: string) =>
  [...letters].map((letter, i) => buildDay(i, LETTERS[letter] ?? 'unknown', letter === 'x' ? 60 : 0))

t.test('Consecutive days of one status are one run', async t => {
  t.same(groupDayRuns(days('uuoox')), [
    { from: 0, to: 1, status: 'unknown' },
    { from: 2, to: 3, status: 'operational' },
    { from: 4, to: 4, status: 'outage' },
  ])
  t.same(groupDayRuns([]), [])
})

t.test('A bar lists each bad day and runs of days without data, newest first, and no good days', async t => {
  const listed = (letters: string) =>
    listNotableRuns(days(letters)).map(({ from, to, status }) => `${from}-${to} ${status}`)
  t.same(listed('ooo'), [])
  t.same(listed('uuuodxxo'), ['6-6 outage', '5-5 outage', '4-4 degraded', '0-2 unknown'])
  const [first, ...rest] = days('oo')
  const withIncident = [{ ...first!, incidents: [{ id: 'a', title: 'Noted by hand' }] }, ...rest]
  t.same(
    listNotableRuns(withIncident).map(({ from }) => from),
    [0],
    'a good day with an incident is listed',
  )
})

t.test('A bar is one path per status with a few bytes per day, and has a text alternative', async t => {
  t.same(buildBarPaths(days('oxo')), [
    { sign: 'o', d: 'M0.5 8v24M2.5 8v24' },
    { sign: 'x', d: 'M1.5 2v36' },
  ])
  t.same(buildBarPaths(days('ooo')), [{ sign: 'o', d: 'M0.5 8v24m1-24v24m1-24v24' }])
  t.ok(buildBarPaths(days('o'.repeat(90)))[0]!.d.length < 800)
  t.equal(buildBarLabel(days('uoodx')), 'The last 5 days: 2 operational, 1 degraded, 1 outage, 1 no data')
})

t.test('A chart is one path whose runs begin and end below the picture', async t => {
  t.equal(buildChartPath([10, 20, 20]), 'M-3 26V13h3l1-11l1 0h3V26')
  t.equal(buildChartPath([null, 10, null, 10]), 'M1 26V2V26M3 26V2h3V26')
  t.equal(buildChartPath([0, 0]), 'M-3 26V24h3l1 0h3V26')
  t.equal(buildChartPath([null]), '')
  t.equal(buildChartPath([]), '')
})

t.test('A row of blocks shows large variations and hides small ones', async t => {
  t.equal(renderSparkline([10, 20, 30, 40, 80]), '▁▂▃▄█')
  t.equal(renderSparkline([100, 101, 100]), '▁▁▁')
  t.equal(renderSparkline([null, 5]), ' ▁')
  t.equal(renderSparkline([0, 0]), '▁▁')
  t.equal([...renderSparkline(Array.from({ length: 90 }, (_, i) => i))].length, 18)
})
