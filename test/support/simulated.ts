import t from 'tap'
import { MIXED_INTERVALS_S } from '../simulate/installation.ts'
import { evaluateChronicle, type SimulationReport } from '../simulate/oracle/evaluate.ts'
import { formatReport } from '../simulate/report.ts'
import { type Options, STANDARD, simulate } from '../simulate/simulate.ts'

/** What the verdict promises of every simulated time. */
type Tests = { same: (a: unknown, b: unknown, message: string) => unknown; comment: (text: string) => unknown }

/** Runs a simulation with intervals of 30 s to an hour, and holds it against the aims (docs/design/verdict.md). */
export async function testSimulated(t: Tests, options: Partial<Options>): Promise<SimulationReport> {
  const all = { ...STANDARD, intervalsS: MIXED_INTERVALS_S, ...options }
  const report = evaluateChronicle(await simulate(all), all.probesPerRegion)
  if (report.failures.length > 0) t.comment(formatReport(report))
  t.same(
    report.failures,
    [],
    'nothing is missed, late, reported twice, or false with two regions or more, and alerts follow maintenance',
  )
  return report
}

/** The simulated weeks of one seed; each seed is a test file, so that the runner runs several at a time. */
export function testWeeks(seed: number): void {
  t.test(
    'six days with the faults of eight weeks: every outage is found in time, and nothing is found that was not',
    async t => {
      const { outages, faults } = await testSimulated(t, { seed, days: 6 })
      t.ok(outages.plain > 150, `${outages.plain} outages without a fault, all found`)
      t.ok(faults > 60, `${faults} faults`)
    },
  )
}
