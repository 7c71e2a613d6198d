import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DockerfileParser } from 'dockerfile-ast'
import t from 'tap'
import {
  collectFindings,
  compareWithList,
  findNativePackages,
  parseListedPackages,
} from '../../tools/install/audit.mjs'
import { readLockedPackages } from '../../tools/install/locked.mjs'
import { ROOT, readText } from '../support/deployment.ts'

const run = promisify(execFile)
const locked = readLockedPackages(ROOT)

/** The packages that the images install: the arguments of subset-lock.mjs after the folder, for an architecture. */
function wantedBy(path: string, arch: string): string[][] {
  const steps = DockerfileParser.parse(readText(path))
    .getInstructions()
    .filter(one => one.getKeyword() === 'RUN')
    .map(one => one.getArgumentsContent() ?? '')
  return steps.flatMap(step => {
    const [, words] = /subset-lock\.mjs \S+ ((?:(?!&&).)+)/s.exec(step) ?? []
    return words
      ? [
          words
            .replaceAll('$(node -p process.arch)', arch)
            .replace(/["\\\n]/g, ' ')
            .trim()
            .split(/\s+/),
        ]
      : []
  })
}

for (const path of ['deploy/images/control-plane.Dockerfile', 'deploy/images/probe-agent.Dockerfile']) {
  t.test(`Every package in ${path} has the integrity of package-lock.json`, async t => {
    t.notMatch(readText(path), /npm (install|i|add)\b/, 'only npm ci, which takes what a lock names')
    for (const arch of ['x64', 'arm64']) {
      const wanted = wantedBy(path, arch)
      t.equal(wanted.length, 2, 'the bundler, and what the programs need')
      for (const words of wanted) {
        const folder = mkdtempSync(join(tmpdir(), 'picket-subset-'))
        t.teardown(() => rmSync(folder, { recursive: true, force: true }))
        await run(process.execPath, ['tools/install/subset-lock.mjs', folder, ...words], { cwd: ROOT })
        const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
        const { '': _, ...entries } = packages as typeof locked
        t.ok(Object.keys(entries).length >= 2)
        const others = Object.entries(entries).filter(
          ([place, { integrity }]) => !integrity || integrity !== locked[place]?.integrity,
        )
        t.same(others, [], `${arch} ${words.join(' ')}`)
        // npm refuses an incomplete lock file; this is only tested for the architecture of this machine
        const options = ['ci', '--dry-run', '--offline', '--ignore-scripts', '--no-audit', '--no-fund']
        if (arch === process.arch) t.match((await run('npm', options, { cwd: folder })).stdout, /added \d+ packages/)
      }
    }
  })
}

t.test('Every dependency with an install script or native code is listed with a reason', async t => {
  const listed = parseListedPackages(readText('docs/design/security.md'))
  const found = collectFindings(locked, findNativePackages(join(ROOT, 'node_modules')))
  t.ok(found.size > 10)
  t.same(compareWithList(found, listed), [])
})

t.test('A new dependency with an install script is refused until it is listed', async t => {
  const listed = parseListedPackages(
    '| `koffi`, `@koromix/*` | install script, native code | pings |\n| `gone` | native code | - |',
  )
  const packages = {
    'node_modules/koffi': { version: '1.0.0', hasInstallScript: true },
    'node_modules/@koromix/koffi-linux-x64': { version: '1.0.0', cpu: ['x64'] },
    'node_modules/a/node_modules/left-pad': { version: '1.3.0', hasInstallScript: true },
  }
  t.same(compareWithList(collectFindings(packages, ['quiet']), listed), [
    'left-pad has: install script; review it and add it to the list',
    'quiet has: native code; review it and add it to the list',
    'gone is listed but not installed',
  ])
})
