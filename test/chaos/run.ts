/**
 * `npm run chaos [-- --seed N --minutes M --faults N --previous D --short]`: breaks a Picket of many processes at random and checks what it
 * has stored and told (README, "Faults"). The same seed makes the same plan. Exits with 1 when a
 * check fails. `--short`: what `npm test` runs.
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
  --seed N     makes the plan of an earlier run again; any by default
  --minutes N  how long faults go on; ${LONG.minutes} by default
  --faults N   how many; ${LONG.faults / LONG.minutes} a minute by default
  --previous D a checkout of another version in which npm run build was run: the second process of each kind is of that one
  --only KIND  faults of this kind alone: ${CHAOS_FAULT_KINDS.join(', ')}
  --short      few processes for half a minute, as in npm test`)
  process.exit(0)
}

function parseNumber(name: 'seed' | 'minutes' | 'faults', fallback: number): number {
  const value = Number(values[name] ?? fallback)
  if (Number.isFinite(value) && value >= 0) return value
  console.error(`--${name} is "${values[name]}"; it has to be a number`)
  process.exit(1)
}

function parsePrevious(dir: string | undefined): string | null {
  if (dir === undefined) return null
  if (existsSync(join(dir, 'dist/control-plane.js'))) return resolve(dir)
  console.error(`--previous is "${dir}"; it has to be a checkout in which "npm run build" was run`)
  process.exit(1)
}

function parseKind(kind: string | undefined): ChaosFaultKind | null {
  const known = CHAOS_FAULT_KINDS.find(one => one === kind)
  if (known || kind === undefined) return known ?? null
  console.error(`--only is "${kind}"; the kinds are ${CHAOS_FAULT_KINDS.join(', ')}`)
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
    console.log(`${violations.length === 0 ? 'true ' : 'FALSE'} ${statement}`)
    for (const one of violations.slice(0, 20)) console.log(`        ${one}`)
  }
  const hasPassed = checks.every(({ violations }) => violations.length === 0)
  const only = values.only ? ` --only "${values.only}"` : ''
  const options = `${only}${values.previous ? ` --previous ${values.previous}` : ''}${values.short ? ' --short' : ''}`
  const again = `--seed ${seed} --minutes ${minutes} --faults ${faults.length}${options}`
  if (!hasPassed) console.log(`the data is kept in ${dir}; the same plan again: npm run chaos -- ${again}`)
  return hasPassed
}

await build()
console.log(`seed ${seed}`)
const report = await runChaos({
  seed,
  scale: { ...base, minutes, faults, previous: parsePrevious(values.previous), only: parseKind(values.only) },
  say: line => console.log(line),
})
process.exit(show(report) ? 0 : 1)
