// npm run engines: the two engines of the tests, until Ctrl-C; set what it prints to run test files one by one.
import { installPackages } from './install.mjs'

installPackages()
const { register } = await import('tsx/esm/api')
register()
const { startTestEngines } = await import('./engines/pair.ts')
const engines = await startTestEngines()
console.log(`export TEST_DATABASE_URL=${engines.databaseUrl}\nexport TEST_CLICKHOUSE_URL=${engines.clickhouseUrl}`)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, () => engines.stop().then(() => process.exit(0)))
