import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { PROGRAMS } from '../build/build.mjs'

/** A change of these can reach every test: packages, the compiler's settings, the runner and the engines. */
const REACHES_ALL = /^(package\.json|package-lock\.json|tsconfig\.json|\.taprc|tools\/(test-runner|engines|install)\/)/
/** They read the whole repository, and are quick. */
const ALWAYS = /^test\/rules\//

/** `dist/control-plane.js` in a text of a test: the test starts this program. */
const PROGRAM = /\bdist\/([\w-]+)\.js\b/g
/** A path of the repository in a text: the test reads it, or starts it. */
const MENTIONED = /['"`](?:\.\.?\/)*((?:control-plane|probe-agent|shared|deploy|tools|test|docs|proto)\/[\w./-]*\w)/g

/** What a source file imports, and what it names in its texts. */
export type SourceNode = { imports: string[]; mentions: string[] }

/** Files that differ from `base` (a commit), also those that git does not know yet. Throws when git does not know `base`. */
export function listChangedFiles(root: string, base: string): string[] {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n')
  const changed = [...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')]
  return [...new Set(changed)].filter(path => path !== '')
}

/** The tests that a change of these files can reach, by imports, by programs that they start and by paths that they name. */
export function selectAffected(graph: ReadonlyMap<string, SourceNode>, tests: string[], changed: string[]): string[] {
  if (changed.some(path => REACHES_ALL.test(path))) return tests
  const isChanged = (path: string) => changed.some(file => file === path || file.startsWith(`${path}/`))
  return tests.filter(test => ALWAYS.test(test) || [...collectReachable(graph, test)].some(isChanged))
}

/** Everything that a test imports, starts or names, directly or through others. */
function collectReachable(graph: ReadonlyMap<string, SourceNode>, test: string): Set<string> {
  const reached = new Set([test])
  for (const path of reached) {
    const { imports, mentions } = graph.get(path) ?? { imports: [], mentions: [] }
    for (const next of [...imports, ...mentions]) reached.add(next)
  }
  return reached
}

/** The graph of the given tests and of all programs, as esbuild resolves their imports. */
export async function readGraph(root: string, tests: string[]): Promise<Map<string, SourceNode>> {
  const programs = Object.values(PROGRAMS).filter(path => existsSync(join(root, path)))
  // some of them are started as programs, by their path
  const support = readdirSync(join(root, 'test/support'))
    .filter(name => name.endsWith('.ts'))
    .map(name => `test/support/${name}`)
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [...new Set([...tests, ...programs, ...support])],
    outdir: join(root, '.tap/graph'),
    bundle: true,
    // without common chunks, esbuild prints shared code once for each entry
    splitting: true,
    write: false,
    metafile: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  })
  return new Map(
    Object.entries(metafile.inputs).map(([path, { imports }]) => [
      path,
      {
        imports: imports.filter(({ external }) => !external).map(({ path }) => path),
        mentions: listMentions(readFileSync(join(root, path), 'utf8')),
      },
    ]),
  )
}

/** The files and folders that a source names in its texts; a program of `dist` as its source. */
export function listMentions(source: string): string[] {
  const programs = [...source.matchAll(PROGRAM)]
    .map(([, name = '']) => PROGRAMS[name])
    .filter(path => path !== undefined)
  return [...programs, ...[...source.matchAll(MENTIONED)].map(([, path = '']) => path)]
}
