// Installs what a fresh clone needs. Uses Node built-ins only, because it runs before any package is installed.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkInstalledPackages, checkLockFile } from './locked.mjs'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const STAMP = join(ROOT, 'node_modules/.picket-installed')
const TAP_STAMP = join(ROOT, 'node_modules/.picket-tap')
const MIN_NODE = [20, 15]

/** Prints a message and exits with code 1. */
export function exitWithMessage(sentence) {
  console.error(sentence)
  process.exit(1)
}

const answers = (command, option) => !spawnSync(command, [option], { stdio: 'ignore' }).error

/** `what`: a description with the source; `isOptional`: the command continues without it. */
const describeDistributionPackage = (name, command, rest) => ({
  what: `${name}, from the distribution (apt-get as root)`,
  isInstalled: () => answers(command, '--version'),
  manualCommand: `sudo apt-get install ${name}`,
  isOptional: false,
  install: () => installFromDistribution(name),
  isPossible: () => process.getuid?.() === 0,
  ...rest,
})

export const PACKAGES = {
  what: 'npm packages of package-lock.json, into node_modules',
  isInstalled: () => existsSync(STAMP) && readFileSync(STAMP, 'utf8') === fingerprint(),
  manualCommand: 'npm install --no-save --ignore-scripts',
  isOptional: false,
  install: installLocked,
  isPossible: () => true,
}
export const NATS = describeDistributionPackage('nats-server', 'nats-server', {
  instead: 'set NATS_URL to an existing server',
})
/** A browser for the tests of the dashboard, of pages and of screenshots. Probes work without one. */
const CHROMIUM = describeDistributionPackage('chromium-headless-shell', '', {
  isInstalled: () => ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].some(existsSync),
})
/** Other browsers for the tests in test/browsers. WebKit opens its windows on a screen in memory. */
export const OTHER_BROWSERS = [
  describeDistributionPackage('firefox-esr', 'firefox-esr'),
  describeDistributionPackage('webkit2gtk-driver', 'WebKitWebDriver'),
  describeDistributionPackage('xvfb', '', { isInstalled: () => existsSync('/usr/bin/xvfb-run') }),
]
/** For the differential test, and for the tests of alert rules; those tests report when they are missing. */
const BLACKBOX = describeDistributionPackage('prometheus-blackbox-exporter', 'prometheus-blackbox-exporter', {
  isOptional: true,
})
const PROMETHEUS = describeDistributionPackage('prometheus', 'promtool', { isOptional: true })
/** Used by probes to ping when the kernel refuses an ICMP socket. */
export const PING = describeDistributionPackage('iputils-ping', 'ping', {
  isInstalled: () => answers('ping', '-V'),
  isOptional: true,
  instead: 'allow an ICMP socket (net.ipv4.ping_group_range); only ping monitors need it',
})

/** What the tests need. */
export const TEST_PACKAGES = [PACKAGES, NATS, BLACKBOX, PROMETHEUS, PING, CHROMIUM]

/**
 * Prints what is missing and installs it. Exits before installing anything when PICKET_NO_INSTALL=1, or when this user cannot
 * install something that is required.
 */
export function installMissing(...needs) {
  assertNode()
  const missing = needs.filter(need => !need.isInstalled())
  const refused = missing.filter(need => process.env.PICKET_NO_INSTALL === '1' || !need.isPossible())
  for (const need of refused.filter(need => need.isOptional)) console.log(`Missing (optional): ${describeRemedy(need)}`)
  const needed = refused.filter(need => !need.isOptional)
  if (needed.length > 0) exitWithMessage(`Missing:\n${needed.map(need => `  ${describeRemedy(need)}`).join('\n')}`)
  const coming = missing.filter(need => !refused.includes(need))
  if (coming.length > 0) console.log(`Installing what is missing:\n${coming.map(({ what }) => `  ${what}`).join('\n')}`)
  for (const need of coming) {
    if (!need.install() && !need.isOptional)
      exitWithMessage(`The installation failed, see above. To install it yourself: ${describeRemedy(need)}`)
  }
}

const describeRemedy = ({ what, manualCommand, instead }) =>
  `${what}: ${manualCommand}${instead ? `; or ${instead}` : ''}`

function assertNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1])) return
  exitWithMessage(`Picket requires Node ${MIN_NODE.join('.')} or newer; this is ${process.versions.node}.`)
}

/**
 * Installs the locked packages. Not `npm ci`, which fails when the registry lacks optional packages of other platforms. Its
 * guarantees are checked here: the lock file matches package.json, and the installed packages match the lock file. Only the
 * packages that package.json allows run install scripts.
 */
function installLocked() {
  exitOnProblems(checkLockFile(ROOT))
  const options = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error']
  if (!runs('npm', ['install', '--ignore-scripts', ...options])) return false
  exitOnProblems(checkInstalledPackages(ROOT))
  const { allowScripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const scripted = Object.keys(allowScripts).filter(
    name => allowScripts[name] && existsSync(join(ROOT, 'node_modules', name)),
  )
  if (!runs('npm', ['rebuild', ...scripted, '--loglevel=error'])) return false
  stamp(STAMP, fingerprint())
  return true
}

function exitOnProblems(faults) {
  if (faults.length > 0) exitWithMessage(`The npm packages do not match package-lock.json:\n  ${faults.join('\n  ')}`)
}

/** Rebuilds tap's test class after each install, because .taprc changes its plugins. */
export function buildTap() {
  const wanted = fingerprint()
  if (existsSync(TAP_STAMP) && readFileSync(TAP_STAMP, 'utf8') === wanted) return
  if (!runs('npx', ['tap', 'build'])) exitWithMessage('`tap build` failed, see above.')
  stamp(TAP_STAMP, wanted)
}

/** Installs a package as root. False when it failed; the reason is on standard error. */
function installFromDistribution(name) {
  const apt = args =>
    spawnSync('apt-get', ['-qq', '-y', ...args], { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0
  return apt(['install', name]) || (apt(['update']) && apt(['install', name]))
}

/** Replaces the file, because a copy of node_modules may share it by a hard link. */
function stamp(file, text) {
  rmSync(file, { force: true })
  writeFileSync(file, text)
}

function fingerprint() {
  const hash = createHash('sha256').update(process.version)
  for (const file of ['package.json', 'package-lock.json', '.taprc']) hash.update(readFileSync(join(ROOT, file)))
  return hash.digest('hex')
}

function runs(command, args) {
  try {
    execFileSync(command, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
    return true
  } catch {
    return false
  }
}
