/**
 * `npm run chaos [-- --seed N --minutes M --faults N --previous D --short]`: applies random faults to a Picket of many
 * processes and checks what it has stored and sent (docs/benchmarks.md#chaos). The same seed gives the same plan. Exits with 1
 * when a check fails. `--short` is the run of `npm test`.
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from '../../tools/build/build.mjs'
import { type ChaosReport, runChaos } from './chaos.ts'
import { CHAOS_FAULT_KINDS, type ChaosFaultKind } from './plan.ts'
import { LONG, SHORT } from './scales.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string' },
    faults: { type: 'string' },
    short: { type: 'boolean' },
    previous: { type: 'string' },
    only: { type: 'string' },
    help: { type: 'boolean' },
  },
})

if (values.help) {
  console.log(`npm run chaos -- [options]
  --seed N     repeats the plan of an earlier run; default: random
  --minutes N  duration of the faults; default: ${LONG.minutes}
  --faults N   number of faults; default: ${LONG.faults / LONG.minutes} per minute
  --previous D built checkout of another version; the second process of each kind runs that version
  --only KIND  applies only faults of this kind: ${CHAOS_FAULT_KINDS.join(', ')}
  --short      few processes and 30 seconds of faults, as in npm test`)
  process.exit(0)
}

function parseNumber(name: 'seed' | 'minutes' | 'faults', fallback: number): number {
  const value = Number(values[name] ?? fallback)
  if (Number.isFinite(value) && value >= 0) return value
  console.error(`--${name} must be a number of at least 0, not "${values[name]}"`)
  process.exit(1)
}

function parsePrevious(dir: string | undefined): string | null {
  if (dir === undefined) return null
  if (existsSync(join(dir, 'dist/control-plane.js'))) return resolve(dir)
  console.error(`--previous must be a checkout in which "npm run build" was run, not "${dir}"`)
  process.exit(1)
}

function parseKind(kind: string | undefined): ChaosFaultKind | null {
  const known = CHAOS_FAULT_KINDS.find(one => one === kind)
  if (known || kind === undefined) return known ?? null
  console.error(`--only must be a kind of fault, not "${kind}". Kinds: ${CHAOS_FAULT_KINDS.join(', ')}`)
  process.exit(1)
}

const base = values.short ? SHORT : LONG
const seed = parseNumber('seed', Date.now() % 1_000_000)
const minutes = parseNumber('minutes', base.minutes)
const faults = parseNumber('faults', Math.max(base.faults, Math.round((base.faults * minutes) / base.minutes)))

function show({ dir, faults, checks, figures }: ChaosReport): boolean {
  console.log(`\nseed ${seed}, ${minutes} minutes, ${faults.length} faults`)
  for (const kind of CHAOS_FAULT_KINDS) console.log(`  ${faults.filter(fault => fault.kind === kind).length} ${kind}`)
  for (const [what, figure] of Object.entries(figures)) console.log(`  ${figure.toLocaleString('en')} ${what}`)
  for (const { statement, violations } of checks) {
    console.log(`${violations.length === 0 ? 'pass' : 'FAIL'} ${statement}`)
    for (const one of violations.slice(0, 20)) console.log(`        ${one}`)
  }
  const hasPassed = checks.every(({ violations }) => violations.length === 0)
  const only = values.only ? ` --only "${values.only}"` : ''
  const options = `${only}${values.previous ? ` --previous ${values.previous}` : ''}${values.short ? ' --short' : ''}`
  const again = `--seed ${seed} --minutes ${minutes} --faults ${faults.length}${options}`
  if (!hasPassed) console.log(`the data is kept in ${dir}; to repeat the plan: npm run chaos -- ${again}`)
  return hasPassed
}

await build()
console.log(`seed ${seed}`)
const report = await runChaos({
  seed,
  scale: { ...base, minutes, faults, previous: parsePrevious(values.previous), only: parseKind(values.only) },
  log: line => console.log(line),
})
process.exit(show(report) ? 0 : 1)
