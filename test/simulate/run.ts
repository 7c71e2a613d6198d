import { parseArgs } from 'node:util'
import { evaluateChronicle } from './oracle/evaluate.ts'
import { SIMULATED_FAULT_KINDS, type SimulatedFaultKind } from './plan.ts'
import { formatReport } from './report.ts'
import { STANDARD, simulate } from './simulate.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    days: { type: 'string' },
    monitors: { type: 'string' },
    probes: { type: 'string' },
    factor: { type: 'string' },
    only: { type: 'string', multiple: true },
    correlate: { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean' },
  },
})

if (values.help) {
  console.log(`npm run simulate -- [options]: the verdict through a year of faults in virtual time (docs/design/guarantee.md)
  --seed N      the same seed gives the same run; ${STANDARD.seed} by default
  --days D      how long; ${STANDARD.days} by default
  --monitors M  how many, every 30 s; ${STANDARD.monitors} by default
  --probes P    in each of the 6 regions; ${STANDARD.probesPerRegion} by default
  --factor F    times the usual faults; ${STANDARD.factor} by default, so that 40 days have the faults of a year; 0: none
  --only KIND   faults of this kind alone, also more than once: ${SIMULATED_FAULT_KINDS.join(', ')}
  --correlate   targets break within a minute after a part of Picket
  --json        the report as JSON`)
  process.exit(0)
}

function parseNumber(name: 'seed' | 'days' | 'monitors' | 'probes' | 'factor', fallback: number): number {
  const value = Number(values[name] ?? fallback)
  if (Number.isFinite(value) && value >= 0) return value
  console.error(`--${name} is "${values[name]}"; it has to be a number`)
  process.exit(1)
}

const only = (values.only ?? []).filter((kind): kind is SimulatedFaultKind =>
  (SIMULATED_FAULT_KINDS as readonly string[]).includes(kind),
)
if (only.length !== (values.only ?? []).length) {
  console.error(`--only takes ${SIMULATED_FAULT_KINDS.join(', ')}`)
  process.exit(1)
}

const chronicle = await simulate(
  {
    seed: parseNumber('seed', STANDARD.seed),
    days: parseNumber('days', STANDARD.days),
    monitors: parseNumber('monitors', STANDARD.monitors),
    probesPerRegion: parseNumber('probes', STANDARD.probesPerRegion),
    factor: parseNumber('factor', STANDARD.factor),
    only,
    correlate: values.correlate ?? false,
  },
  days => process.stderr.isTTY && process.stderr.write(`\r${days.toFixed(1)} days`),
)
const report = evaluateChronicle(chronicle, parseNumber('probes', STANDARD.probesPerRegion))
const cpuS = process.cpuUsage().user / 1e6
if (values.json) console.log(JSON.stringify({ ...report, cpuS }, null, 1))
else
  console.log(
    `${formatReport(report)}\nprocessor time: ${cpuS.toFixed(1)} s, ${Math.round(report.checks / cpuS)} checks a second`,
  )
process.exit(report.failures.length > 0 ? 1 : 0)
