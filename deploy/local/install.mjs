// Brings a fresh clone to where everything can run. Node built-ins only: it runs before anything is installed.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const STAMP = join(ROOT, 'node_modules/.picket-installed')
const TAP_STAMP = join(ROOT, 'node_modules/.picket-tap')
const MIN_NODE = [20, 11]

/** Ends the program with one sentence for the person at the terminal. */
export function giveUp(sentence) {
  console.error(sentence)
  process.exit(1)
}

/** npm packages of the lock file, when they are missing or the lock is newer; a line when there is something to do. */
export function installPackages() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
    giveUp(`Picket needs Node ${MIN_NODE.join('.')} or newer; this is ${process.versions.node}.`)
  }
  const wanted = fingerprint()
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return
  console.log('Installing npm packages …')
  // not `npm ci`: it refuses a lock whose optional packages of other platforms the registry does not offer
  run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'], 'npm install failed, see above.')
  writeFileSync(STAMP, wanted)
}

/** The plugin list in .taprc differs from tap's own, so its test class is made anew after each install. */
export function buildTap() {
  const wanted = fingerprint()
  if (existsSync(TAP_STAMP) && readFileSync(TAP_STAMP, 'utf8') === wanted) return
  run('npx', ['tap', 'build'], '`tap build` failed, see above.')
  writeFileSync(TAP_STAMP, wanted)
}

/** A browser for the tests of screenshots, from the distribution. A probe that has none does without. */
export function installChromium() {
  if (existsSync('/usr/bin/chromium')) return
  if (process.getuid?.() !== 0) giveUp('chromium is missing: run "sudo apt-get install chromium" once.')
  if (!installFromDistribution('chromium')) {
    giveUp('chromium could not be installed with apt-get, see above; install it yourself.')
  }
}

/** `nats-server` from the distribution: installed when root, asked for otherwise. */
export function installNats() {
  if (spawnSync('nats-server', ['--version']).status === 0) return
  if (process.getuid?.() !== 0) {
    giveUp(
      'nats-server is missing: run "sudo apt-get install nats-server" once, or set NATS_URL to a server of your own.',
    )
  }
  if (!installFromDistribution('nats-server')) {
    giveUp(
      'nats-server could not be installed with apt-get, see above; install it, or set NATS_URL to a server of your own.',
    )
  }
}

/** What the differential test compares us with. Where it cannot be had, that test fails and says what to do. */
export function installBlackbox() {
  const name = 'prometheus-blackbox-exporter'
  if (spawnSync(name, ['--version']).status !== 0 && process.getuid?.() === 0) installFromDistribution(name)
}

/** What evaluates the alert rules in tests. Where it cannot be had, those tests fail and say what to do. */
export function installPrometheus() {
  if (spawnSync('promtool', ['--version']).status !== 0 && process.getuid?.() === 0) installFromDistribution('prometheus')
}

/** The system's ping: what a probe pings with where the kernel gives it no ICMP socket. Only ping monitors need it. */
export function installPing() {
  if (!spawnSync('ping', ['-V']).error) return
  if (process.getuid?.() === 0 && installFromDistribution('iputils-ping')) return
  console.log('ping is missing: ping monitors need it, or an ICMP socket (net.ipv4.ping_group_range).')
}

/** As root. False when it did not work; what went wrong is on standard error. */
function installFromDistribution(name) {
  console.log(`Installing ${name} …`)
  const apt = args =>
    spawnSync('apt-get', ['-qq', '-y', ...args], { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0
  return apt(['install', name]) || (apt(['update']) && apt(['install', name]))
}

function fingerprint() {
  const hash = createHash('sha256').update(process.version)
  for (const file of ['package.json', 'package-lock.json', '.taprc']) hash.update(readFileSync(join(ROOT, file)))
  return hash.digest('hex')
}

function run(command, args, failure) {
  try {
    execFileSync(command, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
  } catch {
    giveUp(failure)
  }
}
