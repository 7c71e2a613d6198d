// npm run admin -- …: the operator's command line, for DATABASE_URL or the running installation in DATA_DIR.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { exitWithMessage, installMissing, PACKAGES, ROOT } from '../install/install.mjs'

installMissing(PACKAGES)
const { build } = await import('../build/build.mjs')
await build()
const { status } = spawnSync(process.execPath, [join(ROOT, 'dist/admin.js'), ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: chooseEnvironment(process.argv.slice(2)),
})
process.exit(status ?? 1)

/** The variables of the running installation, unless they are given or DATABASE_URL is of another one. */
function chooseEnvironment(args) {
  const given = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''))
  const dataDir = resolve(given.DATA_DIR ?? '.data')
  const running = readRunningEnvironment(dataDir)
  const isOther = given.DATABASE_URL !== undefined && given.DATABASE_URL !== running?.DATABASE_URL
  if (running !== null && !isOther) return { ...running, ...given }
  if (given.DATABASE_URL !== undefined || args[0] === 'nats' || args.includes('--help')) return given
  exitWithMessage(
    `No installation is running in ${dataDir}. Start it with "npm start", or set DATABASE_URL and SECRET_KEY.`,
  )
}

/** What npm start has stored (tools/processes/data-dir.ts); null when it does not run. */
function readRunningEnvironment(dataDir) {
  const [runner, environment] = ['runner.pid', 'environment.json'].map(name => join(dataDir, name))
  if (!existsSync(runner) || !existsSync(environment)) return null
  try {
    process.kill(Number(readFileSync(runner, 'utf8')), 0)
  } catch (error) {
    // another user's process is EPERM
    if (error.code !== 'EPERM') return null
  }
  return JSON.parse(readFileSync(environment, 'utf8'))
}
