// npm run admin -- …: the operator's command line, for DATABASE_URL or the running installation in DATA_DIR.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { exitWithMessage, installMissing, PACKAGES, ROOT } from '../install/install.mjs'
import { LOCAL_EGRESS_ALLOW } from './egress.mjs'

installMissing(PACKAGES)
const { build } = await import('../build/build.mjs')
await build()
const { status } = spawnSync(process.execPath, [join(ROOT, 'dist/admin.js'), ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, ...(process.env.DATABASE_URL || process.argv[2] === 'nats' ? {} : embedded()) },
})
process.exit(status ?? 1)

/** Reads the port of the embedded PostgreSQL from its postmaster.pid. */
function embedded() {
  const dataDir = resolve(process.env.DATA_DIR || '.data')
  const pidFile = join(dataDir, 'postgres/postmaster.pid')
  if (!existsSync(pidFile))
    exitWithMessage(
      `No installation is running in ${dataDir}. Start it with "npm start", or set DATABASE_URL and SECRET_KEY.`,
    )
  const port = readFileSync(pidFile, 'utf8').split('\n')[3]
  const read = name => JSON.parse(readFileSync(join(dataDir, name), 'utf8'))
  const { secretKey, postgresPassword, natsOperatorSeed } = read('keep.json')
  const addresses = existsSync(join(dataDir, 'addresses.json')) ? read('addresses.json') : {}
  const { natsUrl = '', isEmbeddedNats = false, clickhouseUrl = '', egressAllow = LOCAL_EGRESS_ALLOW } = addresses
  return {
    DATABASE_URL: `postgres://postgres:${postgresPassword}@127.0.0.1:${port}/postgres`,
    SECRET_KEY: process.env.SECRET_KEY || secretKey,
    NATS_URL: process.env.NATS_URL || natsUrl,
    CLICKHOUSE_URL: process.env.CLICKHOUSE_URL || clickhouseUrl,
    ...(!process.env.NATS_URL && isEmbeddedNats && { NATS_OPERATOR_SEED: natsOperatorSeed }),
    EGRESS_ALLOW: process.env.EGRESS_ALLOW ?? egressAllow,
    PUBLIC_URL: process.env.PUBLIC_URL || `http://localhost:${process.env.PORT || 8080}`,
  }
}
