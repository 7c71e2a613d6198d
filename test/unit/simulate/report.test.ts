import t from 'tap'
import { seededRandom } from '../../chaos/random.ts'
import { createInstallation, MIXED_INTERVALS_S } from '../../simulate/installation.ts'
import { evaluateChronicle } from '../../simulate/oracle/evaluate.ts'
import { createSimulationPlan } from '../../simulate/plan.ts'
import { formatReport } from '../../simulate/report.ts'
import { STANDARD } from '../../simulate/simulate.ts'
import { buildHour, FIRST_UP, MIN, moved, outage } from '../../support/simulated-hour.ts'

t.test('the report counts outages of at least 1.5 intervals apart, and groups the times to `down`', async t => {
  const report = evaluateChronicle(
    buildHour({
      outages: [
        outage(10 * MIN, 30_000),
        outage(15 * MIN, 44_000, 'hanging'),
        outage(20 * MIN, 45_000, 'hanging'),
        outage(25 * MIN, 60_000),
        outage(30 * MIN, 60_000),
        outage(40 * MIN, 60_000),
      ],
      transitions: [
        FIRST_UP,
        moved(10 * MIN + 20_000, 'up', 'down'),
        moved(10 * MIN + 40_000, 'down', 'up'),
        moved(25 * MIN + 30_000, 'up', 'down'),
        moved(26 * MIN + 20_000, 'down', 'up'),
        moved(30 * MIN + 50_000, 'up', 'down'),
        moved(31 * MIN + 20_000, 'down', 'up'),
      ],
    }),
  )
  t.same(report.outages, { all: 6, plain: 6, reported: 3, notReported: 3, tooShort: 2, missed: 1, late: 1 })
  t.same(report.longOutages, { all: 4, reported: 2, notReported: 2, tooShort: 1, missed: 1, late: 1 })
  t.same(
    report.detection.plain.map(({ group, count }) => [group, count]),
    [
      ['refused', 3],
      ['refused, 3 regions', 3],
      ['refused, every 30 s, timeout 10 s, 2 re-checks', 3],
    ],
  )
  const text = formatReport(report)
  t.match(
    text,
    'of at least 1.5 intervals: 4\n  reported: 2, of them 1 late; not reported: 2, of them 1 shorter than what is guaranteed and 1 missed',
  )
  t.match(text, /^refused, every 30 s, timeout 10 s, 2 re-checks +3 /m)
})

t.test('a standard run is 40 days of 48 monitors every 30 s, with the faults of a year', async t => {
  const { days, monitors, probesPerRegion, factor, intervalsS } = STANDARD
  t.match({ days, monitors, factor }, { days: 40, monitors: 48, factor: 9 })
  const installation = createInstallation(seededRandom(1), monitors, probesPerRegion, intervalsS)
  t.same(new Set(installation.monitors.map(({ settings }) => settings.intervalS)), new Set([30]))
  t.same(installation.intervalsS, [30], 'customers do not change it either')
  const { faults } = createSimulationPlan(installation, STANDARD)
  t.ok(faults.length > 650, `${faults.length} faults`)
  const mixed = createInstallation(seededRandom(1), monitors, probesPerRegion, MIXED_INTERVALS_S)
  t.same(new Set(mixed.monitors.map(({ settings }) => settings.intervalS)), new Set([30, 60, 300, 3_600]))
})
