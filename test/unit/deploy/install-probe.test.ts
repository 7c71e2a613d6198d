import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from '../../support/deployment.ts'
import type { Teardown } from '../../support/teardown.ts'

const SCRIPT = join(ROOT, 'deploy/probe/install-probe.sh')
const EXECUTABLE = `picket-probe-${process.platform}-${process.arch}`
const UNIT = 'picket-probe.service'
const SETTINGS = { FLEET_URL: 'fleet.example.com:443', PROBE_TOKEN: 'prb_secret' }

type Offer = {
  folder: string
  root: string
  sha256: string
  install: (args?: string[], env?: object) => ReturnType<typeof run>
}

/** Replaces the program of an offer. */
function offerProgram(folder: string, script: string) {
  writeFileSync(join(folder, EXECUTABLE), `#!/bin/sh\n${script}\n`)
  writeFileSync(join(folder, 'SHA256SUMS'), execFileSync('sha256sum', [EXECUTABLE, UNIT], { cwd: folder }))
}

function run(args: string[], env: object) {
  const { status, stdout, stderr } = spawnSync('sh', [SCRIPT, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...env },
  })
  return { status, stdout, stderr }
}

/** A folder as the build fills it, with a small program instead of the probe. */
function offer(t: Teardown): Offer {
  const [folder, root] = ['offer', 'root'].map(name => mkdtempSync(join(tmpdir(), `picket-${name}-`))) as [
    string,
    string,
  ]
  t.teardown(() => [folder, root].map(path => rmSync(path, { recursive: true })))
  copyFileSync(join(ROOT, 'deploy/probe', UNIT), join(folder, UNIT))
  offerProgram(folder, 'echo 9.9.9')
  const sha256 = createHash('sha256')
    .update(readFileSync(join(folder, EXECUTABLE)))
    .digest('hex')
  const install: Offer['install'] = (args = [], env = SETTINGS) =>
    run(['--from', folder, ...args], { DESTDIR: root, ...env })
  return { folder, root, sha256, install }
}

const installed = (root: string) => join(root, 'usr/local/bin/picket-probe')

t.test('The script installs the probe, its unit and its settings, which only root can read', async t => {
  const { root, sha256, install } = offer(t)
  t.match(install(['--sha256', sha256]), { status: 0, stdout: /^picket-probe 9\.9\.9 is installed/, stderr: '' })
  t.ok(existsSync(join(root, 'etc/systemd/system', UNIT)))
  const settings = join(root, 'etc/picket/probe.env')
  t.equal(readFileSync(settings, 'utf8'), 'FLEET_URL=fleet.example.com:443\nFLEET_TLS=on\nPROBE_TOKEN=prb_secret\n')
  t.equal(statSync(settings).mode & 0o777, 0o600)
  const pings = readFileSync(join(root, 'etc/sysctl.d/60-picket-probe.conf'), 'utf8')
  t.equal(pings, 'net.ipv4.ping_group_range = 0 2147483647\n', 'the service may send pings without a capability')
})

t.test('An update replaces the probe and keeps its settings', async t => {
  const { folder, root, install } = offer(t)
  install()
  offerProgram(folder, 'echo 10.0.0')
  t.match(install([], {}), { status: 0, stdout: /10\.0\.0/ })
  t.match(readFileSync(join(root, 'etc/picket/probe.env'), 'utf8'), /prb_secret/)
})

t.test('An update that does not run on this machine leaves the installed probe and its unit as they were', async t => {
  const { folder, root, install } = offer(t)
  install()
  const unit = join(root, 'etc/systemd/system', UNIT)
  const before = readFileSync(unit, 'utf8')
  appendFileSync(join(folder, UNIT), '# newer\n')
  offerProgram(folder, 'echo "GLIBC_2.99 not found" >&2; exit 1')
  const { status, stderr } = install([], {})
  t.equal(status, 1)
  t.match(stderr, /GLIBC_2\.99 not found\n.* does not run on this machine; nothing was installed/)
  t.equal(execFileSync(installed(root), ['--version'], { encoding: 'utf8' }), '9.9.9\n')
  t.equal(readFileSync(unit, 'utf8'), before)
  t.same(readdirSync(join(root, 'usr/local/bin')), ['picket-probe'])
})

t.test('A new token for an installed probe is not ignored silently: the script says how to enrol again', async t => {
  const { root, install } = offer(t)
  install()
  t.equal(install().stderr, '', 'the same token')
  const again = install([], { ...SETTINGS, PROBE_TOKEN: 'prb_other' })
  t.match(again, {
    status: 0,
    stderr: /probe\.env exists, so the new FLEET_URL and PROBE_TOKEN are not used; to enrol/,
  })
  t.notMatch(again.stderr, /prb_/, 'no token is printed')
  t.match(readFileSync(join(root, 'etc/picket/probe.env'), 'utf8'), /prb_secret/)
})

t.test('The script is also read from a pipe, as the command of the dashboard does', async t => {
  const { folder, root } = offer(t)
  const { status, stdout } = spawnSync('sh', ['-s', '--', '--from', folder], {
    ...{ encoding: 'utf8', input: readFileSync(SCRIPT) },
    env: { PATH: process.env.PATH, DESTDIR: root, ...SETTINGS },
  })
  t.match({ status, stdout }, { status: 0, stdout: /is installed below/ })
})

t.test('Nothing is installed with a wrong checksum or a missing setting', async t => {
  const rows: [string, (offered: Offer) => ReturnType<typeof run>, RegExp][] = [
    [
      'a changed executable',
      ({ folder, install }) => {
        appendFileSync(join(folder, EXECUTABLE), '\n')
        return install()
      },
      /picket-probe-\S+ does not match SHA256SUMS; nothing was installed/,
    ],
    [
      'a file that SHA256SUMS does not list',
      ({ folder, install }) => {
        writeFileSync(join(folder, 'SHA256SUMS'), `${'0'.repeat(64)}  other\n`)
        return install()
      },
      /SHA256SUMS does not list/,
    ],
    [
      'a different checksum in --sha256',
      ({ install }) => install(['--sha256', '0'.repeat(64)]),
      /does not match --sha256/,
    ],
    [
      'another unit with --sha256, also when SHA256SUMS lists it',
      ({ folder, sha256, install }) => {
        appendFileSync(join(folder, UNIT), 'ExecStartPre=+/bin/true\n')
        offerProgram(folder, 'echo 9.9.9')
        return install(['--sha256', sha256])
      },
      /with --sha256, picket-probe\.service must be of the same release/,
    ],
    [
      'a missing file',
      ({ folder, install }) => {
        rmSync(join(folder, UNIT))
        return install()
      },
      /cannot read /,
    ],
    ['no token', ({ install }) => install([], { FLEET_URL: 'a:1' }), /set FLEET_URL and PROBE_TOKEN/],
    ['an unknown option', ({ install }) => install(['--force', 'yes']), /unknown option: --force/],
  ]
  for (const [what, attempt, sentence] of rows) {
    const offered = offer(t)
    const { status, stderr } = attempt(offered)
    t.equal(status, 1, what)
    t.match(stderr, sentence)
    t.notOk(existsSync(installed(offered.root)), `${what}: nothing is installed`)
  }
})

t.test('Any POSIX shell accepts the script', async t => {
  t.equal(spawnSync('sh', ['-n', SCRIPT]).status, 0)
  t.notMatch(readFileSync(SCRIPT, 'utf8'), /\[\[|\blocal \b|\bfunction \b|\bpipefail\b/)
  if (spawnSync('shellcheck', ['--version']).error) return
  t.equal(spawnSync('shellcheck', [SCRIPT], { encoding: 'utf8' }).stdout, '')
})
