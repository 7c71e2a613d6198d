import { judge, type Report } from '../simulate/oracle/judge.ts'
import { asText } from '../simulate/report.ts'
import { type Options, STANDARD, simulate } from '../simulate/simulate.ts'

/** What the verdict promises of every simulated time. */
type Tests = { same: (a: unknown, b: unknown, message: string) => unknown; comment: (text: string) => unknown }

/** Runs a simulation, and holds it against the aims (docs/design/verdict.md). */
export async function testSimulated(t: Tests, options: Partial<Options>): Promise<Report> {
  const all = { ...STANDARD, ...options }
  const report = judge(await simulate(all), all.probesPerRegion)
  if (report.failures.length > 0) t.comment(asText(report))
  t.same(report.failures, [], 'nothing is missed, late, reported twice, or false with two regions or more')
  return report
}
