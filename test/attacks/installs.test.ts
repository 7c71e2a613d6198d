import { execFile } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { findNatsWarning } from '../../control-plane/foundation/platform/nats/server-version.ts'
import { checkInstalledPackages, checkLockFile } from '../../tools/install/locked.mjs'
import { ROOT } from '../support/deployment.ts'

const ENTRY_POINTS = ['start/start.mjs', 'probe-executable/build.mjs'] as const

/** A clone with nothing installed, on a machine with `have` whose apt-get and npm only record their arguments. */
function freshClone(have: string[]) {
  const dir = mkdtempSync(join(tmpdir(), 'picket-clone-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const [clone, bin, asked] = [join(dir, 'clone'), join(dir, 'bin'), join(dir, 'asked')]
  for (const name of [...ENTRY_POINTS, 'install/install.mjs', 'install/locked.mjs', 'build/build.mjs']) {
    const file = join('tools', name)
    mkdirSync(dirname(join(clone, file)), { recursive: true })
    cpSync(join(ROOT, file), join(clone, file))
  }
  for (const name of ['package.json', 'package-lock.json', '.taprc']) cpSync(join(ROOT, name), join(clone, name))
  mkdirSync(bin)
  const script = (name: string, text: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  for (const name of have) script(name, 'exit 0')
  for (const name of ['apt-get', 'npm']) script(name, `echo "${name} $*" >> ${asked}\nexit 1`)
  symlinkSync(process.execPath, join(bin, 'node'))
  const start = (env: Record<string, string> = {}, entryPoint: (typeof ENTRY_POINTS)[number] = 'start/start.mjs') =>
    new Promise<{ code: number; output: string }>(resolve => {
      const options = { env: { PATH: bin, ...env } }
      execFile(process.execPath, [join(clone, 'tools', entryPoint)], options, (error, stdout, stderr) => {
        resolve({ code: Number(error?.code ?? 0), output: `${stdout}${stderr}` })
      })
    })
  return { clone, start, asked: () => (existsSync(asked) ? readFileSync(asked, 'utf8') : '') }
}

t.test('With PICKET_NO_INSTALL=1, npm start installs nothing and lists what is missing', async t => {
  const { start, asked } = freshClone([])
  const { code, output } = await start({ PICKET_NO_INSTALL: '1' })
  t.equal(code, 1)
  for (const what of ['npm packages of package-lock.json', 'nats-server', 'iputils-ping']) t.match(output, what)
  t.equal(asked(), '', 'neither apt-get nor npm ran')
  const own = await freshClone([]).start({ PICKET_NO_INSTALL: '1', NATS_URL: 'nats://127.0.0.1:4222' })
  t.notMatch(own.output, 'nats-server')
})

t.test('npm start prints what it will install before it installs anything', async t => {
  const { start, asked } = freshClone(['nats-server', 'ping'])
  const { output } = await start()
  t.match(output, /^Installing what is missing:\n {2}npm packages of package-lock\.json/)
  t.match(asked(), /^npm install --ignore-scripts --no-save /, 'and no package runs a script of its own')
  t.notMatch(asked(), 'apt-get')
})

t.test('npm run build:probe installs what is missing in a fresh clone', async t => {
  const { start, asked } = freshClone([])
  const { output } = await start({}, 'probe-executable/build.mjs')
  t.match(output, /^Installing what is missing:\n {2}npm packages of package-lock\.json/)
  t.match(asked(), /^npm install --ignore-scripts --no-save /)
})

t.test('A lock file that differs from package.json, or packages that differ from it, end the start', async t => {
  t.same(checkLockFile(ROOT), [])
  t.same(checkInstalledPackages(ROOT), [])
  const { clone, start, asked } = freshClone(['nats-server', 'ping'])
  const file = join(clone, 'package.json')
  const wanted = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...wanted, dependencies: { ...wanted.dependencies, 'left-pad': '*' } }))
  const { code, output } = await start()
  t.equal(code, 1)
  t.match(output, 'package-lock.json differs from package.json in dependencies')
  t.equal(asked(), '')

  mkdirSync(join(clone, 'node_modules'))
  const packages = {
    'node_modules/fastify': { version: '5.0.0', integrity: 'sha512-of-other-bytes' },
    'node_modules/left-pad': { version: '1.3.0', integrity: 'sha512-x' },
  }
  writeFileSync(join(clone, 'node_modules/.package-lock.json'), JSON.stringify({ packages }))
  t.match(checkInstalledPackages(clone), [/^node_modules\/fastify is 5\.0\.0, not the /, /left-pad 1\.3\.0 is not in/])
})

t.test('A nats-server with known vulnerabilities is reported with the fixed version', async t => {
  for (const [version, fixed] of [
    ['2.9.10', '2.10.27'],
    ['v2.10.26', '2.10.27'],
    ['2.11.0', '2.12.7'],
    ['2.12.6', '2.12.7'],
  ] as const) {
    t.match(findNatsWarning(version), `install ${fixed} or newer`, version)
  }
  for (const version of ['2.10.27', '2.12.7', '2.13.0', '3.0.0', '']) t.equal(findNatsWarning(version), null, version)
})
