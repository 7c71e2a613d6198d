import { parseArgs } from 'node:util'
import { MIXED_INTERVALS_S } from './installation.ts'
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
    mixed: { type: 'boolean' },
    correlate: { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean' },
  },
})

if (values.help) {
  console.log(`npm run simulate -- [options]: runs the verdict and the recorder through the faults of a year in virtual time (docs/design/simulation.md)
  --seed N      the same seed gives the same run; default: ${STANDARD.seed}
  --days D      duration in virtual time; default: ${STANDARD.days}
  --monitors M  number of monitors, checked every 30 s; default: ${STANDARD.monitors}
  --probes P    number of probes in each of the 6 regions; default: ${STANDARD.probesPerRegion}
  --factor F    multiplies the usual rate of faults; default: ${STANDARD.factor}, so that 40 days have the faults of a year; 0: no faults
  --only KIND   applies only faults of this kind; may be repeated. Kinds: ${SIMULATED_FAULT_KINDS.join(', ')}
  --mixed       intervals of 30 s to an hour, and customers change them
  --correlate   targets fail within a minute after a part of Picket
  --json        prints the report as JSON`)
  process.exit(0)
}

function parseNumber(name: 'seed' | 'days' | 'monitors' | 'probes' | 'factor', fallback: number): number {
  const value = Number(values[name] ?? fallback)
  if (Number.isFinite(value) && value >= 0) return value
  console.error(`--${name} must be a number of at least 0, not "${values[name]}"`)
  process.exit(1)
}

const only = (values.only ?? []).filter((kind): kind is SimulatedFaultKind =>
  (SIMULATED_FAULT_KINDS as readonly string[]).includes(kind),
)
if (only.length !== (values.only ?? []).length) {
  console.error(`--only must be one of ${SIMULATED_FAULT_KINDS.join(', ')}`)
  process.exit(1)
}

const chronicle = await simulate(
  {
    seed: parseNumber('seed', STANDARD.seed),
    days: parseNumber('days', STANDARD.days),
    monitors: parseNumber('monitors', STANDARD.monitors),
    probesPerRegion: parseNumber('probes', STANDARD.probesPerRegion),
    factor: parseNumber('factor', STANDARD.factor),
    intervalsS: values.mixed ? MIXED_INTERVALS_S : STANDARD.intervalsS,
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
