import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

/**
 * Test files, in the order in which they start. `flow` and `quick` run in parallel. A quick file that says that it takes
 * `LONG_FROM_S` or more is in `flow`, so that it does not run alone at the end.
 */
export type TestFiles = { quick: string[]; flow: string[] }

/** The rules first, so that simple errors are found early; then the largest groups, so that small ones end the run. */
const QUICK = ['rules', 'api', 'attacks', 'store', 'unit', 'browser']
/**
 * How many files of a folder run in one process; of others, one. The more the better for the processor, because V8 has compiled
 * what they share: test/api takes a fifth less in three processes than in eight. But at the end both cores need a process each,
 * and files of test/store often wait: in three processes they left the cores idle for the last 100 s of a run.
 */
const GROUP_SIZES: Record<string, number> = {
  rules: 13,
  unit: 60,
  store: 15,
  api: 48,
  attacks: 8,
  browser: 11,
  flow: 9,
}
/** A comment in a file that runs in a process of its own. */
const ALONE = /^\/\/ runs in a process of its own/m
/** In files that share one API; they run in the same processes. */
const SHARES_API = /\bshareApi\(\)/
const LONG_FROM_S = 20
/** Run only when named. */
const NAMED_ONLY = ['attacks', 'faults', 'long', 'browsers']

/** Selects test files by names or folders, or all of them. `unknown`: the first name without a file. */
export function selectTestFiles(root: string, given: string[]): TestFiles | { unknown: string } {
  const wanted = given.map(name => relative(root, resolve(name)))
  const isIn = (name: string) => (file: string) => file === name || file.startsWith(`${name}/`)
  const list = (kinds: readonly string[]) =>
    kinds
      .filter(kind => !NAMED_ONLY.includes(kind) || wanted.some(isIn(`test/${kind}`)))
      .flatMap(kind => filesBelow(root, `test/${kind}`))
  const quick = list(QUICK)
  const flow = list(['flow', ...NAMED_ONLY.filter(kind => !QUICK.includes(kind))])
  const seconds = new Map(
    [...quick, ...flow].map(file => [file, readExpectedSeconds(readFileSync(join(root, file), 'utf8'))]),
  )
  const isLong = (file: string) => seconds.get(file)! >= LONG_FROM_S
  const all = { quick: quick.filter(file => !isLong(file)), flow: [...flow, ...quick.filter(isLong)] }
  const unknown = wanted.find(name => ![...all.quick, ...all.flow].some(isIn(name)))
  if (unknown !== undefined) return { unknown }
  const isWanted = (file: string) => wanted.length === 0 || wanted.some(name => isIn(name)(file))
  return {
    quick: all.quick.filter(isWanted),
    flow: all.flow.filter(isWanted).sort((a, b) => seconds.get(b)! - seconds.get(a)!),
  }
}

/**
 * Splits files into groups that run in one process each: files of one folder with the same needs, in their order. A file that
 * takes `LONG_FROM_S` or more has a group of its own.
 */
export function groupFiles(root: string, files: string[]): string[][] {
  const groups: string[][] = []
  const lastGroup = new Map<string, string[]>()
  for (const file of files) {
    const kind = file.split('/')[1]!
    const source = readFileSync(join(root, file), 'utf8')
    const isAlone = ALONE.test(source) || readExpectedSeconds(source) >= LONG_FROM_S
    const size = isAlone ? 1 : (GROUP_SIZES[kind] ?? 1)
    const needs = SHARES_API.test(source) ? `${kind} with the shared API` : kind
    const last = lastGroup.get(needs)
    if (size > 1 && last !== undefined && last.length < size) {
      last.push(file)
      continue
    }
    const group = [file]
    groups.push(group)
    if (size > 1) lastGroup.set(needs, group)
  }
  return groups
}

/** The duration from a comment such as "takes about 60 s". Longer files start earlier. It is not a limit. */
const readExpectedSeconds = (source: string) => Number(/^\/\/ takes about (\d+) s$/m.exec(source)?.[1] ?? 0)

function filesBelow(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.test.ts'))
    .map(name => join(folder, name))
    .sort()
}
