import t from 'tap'
import { FAILURE_MODES } from '../../control-plane/monitoring/monitors/settings/guarantee.ts'
import { evaluateChronicle, type SimulationReport } from '../simulate/oracle/evaluate.ts'
import { formatReport } from '../simulate/report.ts'
import { type Options, STANDARD, simulate } from '../simulate/simulate.ts'

/** What the verdict promises of every simulated time. */
type Tests = { same: (a: unknown, b: unknown, message: string) => unknown; comment: (text: string) => unknown }

/** A guarantee that the longest outage is further away from says little. */
const NEAR_LIMIT = 0.8

/** Runs a simulation, and holds it against the aims (docs/design/verdict.md). */
export async function testSimulated(t: Tests, options: Partial<Options>): Promise<SimulationReport> {
  const all = { ...STANDARD, ...options }
  const report = evaluateChronicle(await simulate(all), all.probesPerRegion)
  if (report.failures.length > 0) t.comment(formatReport(report))
  t.same(report.failures, [], 'nothing is missed, late, reported twice, or false with two regions or more')
  return report
}

/** The simulated weeks of one seed; each seed is a test file, so that the runner runs several at a time. */
export function testWeeks(seed: number): void {
  t.test(
    'six days with the faults of eight weeks: every outage is found in time, and nothing is found that was not',
    async t => {
      const { outages, faults, detection } = await testSimulated(t, { seed, days: 6 })
      t.ok(outages.plain > 150, `${outages.plain} outages without a fault, all found`)
      t.ok(faults > 60, `${faults} faults`)
      for (const kind of FAILURE_MODES) {
        const { ofLimit, count } = detection.plain.find(({ group }) => group === kind)!
        t.ok(ofLimit <= 1, `${kind}: the longest of ${count} is ${ofLimit} of its limit`)
        // few targets are slow before their outage; guarantee-simulated.test.ts has them
        if (kind !== 'slow') t.ok(ofLimit >= NEAR_LIMIT, `${kind}: near its limit`)
      }
    },
  )
}
