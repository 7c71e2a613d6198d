// npm run engines: runs the data stores of the tests until Ctrl-C. Export the printed variables to run single test files.
import { installMissing, PACKAGES } from '../install/install.mjs'

installMissing(PACKAGES)
const { register } = await import('tsx/esm/api')
register()
const { startTestEngines } = await import('./test-engines.ts')
const { TIMEOUT_S } = await import('../test-runner/test-process.ts')
const engines = await startTestEngines()
const variables = {
  TEST_DATABASE_URL: engines.databaseUrl,
  TEST_CLICKHOUSE_URL: engines.clickhouseUrl,
  TAP_TIMEOUT: TIMEOUT_S,
}
for (const [name, value] of Object.entries(variables)) console.log(`export ${name}=${value}`)
// npm forwards a Ctrl-C that the terminal has already sent to this process
let isStopping = false
async function stop() {
  if (isStopping) return
  isStopping = true
  await engines.stop()
  process.exit(0)
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop)
