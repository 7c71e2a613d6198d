// npm run test:node [-- versions, files or folders]: runs tests with other versions of Node, one after the other, each from an
// npm package in .tap/node-<version>. The tests and every program that they start use that Node. Remove the folder to get a
// newer release of a version. node_modules is not rebuilt, because native packages use Node-API, which all versions have.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { buildTap, installMissing, ROOT, TEST_PACKAGES } from '../install/install.mjs'

const DEFAULT_VERSIONS = ['20', '22', '24']
/** The second flow starts the control plane and probes as processes. */
const DEFAULT_FILES = ['test/unit', 'test/flow/verdict.test.ts', 'test/flow/checks-on-demand.test.ts']
const RUNNER = join(ROOT, 'tools/test-runner/test.mjs')
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']
/** The npm package `node` only installs this one, by a script. */
const BINARIES = `node-${process.platform}-${process.arch}`

const buildFolderPath = version => join(ROOT, `.tap/node-${version}`)
const buildBinaryPath = version => join(buildFolderPath(version), 'node_modules', BINARIES, 'bin/node')

function describeNode(version) {
  const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  const args = ['install', ...options, '--prefix', buildFolderPath(version), `${BINARIES}@${version}`]
  return {
    what: `Node ${version}, the npm package ${BINARIES}, into .tap/node-${version}`,
    isInstalled: () => existsSync(buildBinaryPath(version)),
    manualCommand: `npm ${args.join(' ')}`,
    isOptional: false,
    install: () => spawnSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0,
    isPossible: () => true,
  }
}

/** Runs the files with this Node, also where a program starts `node` by its name. Resolves to how it ended. */
async function runWith(version, files) {
  const binary = buildBinaryPath(version)
  console.log(`Node ${execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim()}`)
  const env = { ...process.env, PATH: `${dirname(binary)}${delimiter}${process.env.PATH}` }
  const child = spawn(binary, [RUNNER, '--installed', ...files], { env, stdio: 'inherit' })
  let isInterrupted = false
  const interrupt = signal => {
    isInterrupted = true
    child.kill(signal)
  }
  for (const signal of SIGNALS) process.on(signal, interrupt)
  const [code] = await once(child, 'close')
  for (const signal of SIGNALS) process.off(signal, interrupt)
  if (isInterrupted) return 'interrupted'
  return code === 0 ? 'passed' : 'failed'
}

const given = process.argv.slice(2)
const isVersion = word => /^\d+(\.\d+)*$/.test(word)
const versions = given.some(isVersion) ? given.filter(isVersion) : DEFAULT_VERSIONS
const files = given.every(isVersion) ? DEFAULT_FILES : given.filter(word => !isVersion(word))
installMissing(...TEST_PACKAGES, ...versions.map(describeNode))
buildTap()
const ends = new Map()
for (const version of versions) {
  ends.set(version, await runWith(version, files))
  if (ends.get(version) === 'interrupted') break
}
for (const [version, end] of ends) console.log(`Node ${version}: ${end}`)
process.exit([...ends.values()].every(end => end === 'passed') ? 0 : 1)
