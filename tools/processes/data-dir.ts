import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { generateOperatorSeed } from '../../control-plane/foundation/platform/nats/operator.ts'
import { isAlive } from '../engines/process.ts'
import { StartError } from '../start/settings.ts'

/** The stored state of a local installation, readable only by its owner. */
export type InstallationState = {
  secretKey: string
  postgresPassword: string
  /** operator seed of the embedded NATS */
  natsOperatorSeed: string
  /** by database, so that another DATABASE_URL gets its own account and tokens */
  databases: Record<string, { hasAccount?: boolean; probeTokens: Record<string, string>; demoKey?: string }>
}

const MIN_FREE_BYTES = 512 * 1024 * 1024

/** Creates and locks the data directory. Returns a function that releases the lock. */
export function openDataDir(dataDir: string): () => void {
  try {
    restrictAccess(dataDir, join(dataDir, 'logs'))
    const { bavail, bsize } = statfsSync(dataDir)
    if (bavail * bsize < MIN_FREE_BYTES) throw new StartError(formatDiskFull(dataDir, bavail * bsize))
    return lock(join(dataDir, 'runner.pid'), dataDir)
  } catch (error) {
    if (error instanceof StartError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC') throw new StartError(formatDiskFull(dataDir, 0))
    throw new StartError(`DATA_DIR ${dataDir} is not writable: ${message}.`)
  }
}

/** Logs contain targets of tenants. When started as root, PostgreSQL runs as another user, which has to pass through the directory. */
function restrictAccess(dataDir: string, logs: string): void {
  const ownId = process.getuid?.()
  mkdirSync(logs, { recursive: true })
  if (statSync(dataDir).uid === ownId) chmodSync(dataDir, ownId === 0 ? 0o711 : 0o700)
  if (statSync(logs).uid === ownId) chmodSync(logs, 0o700)
}

const formatDiskFull = (dataDir: string, bytes: number) =>
  `The disk of ${dataDir} is full: ${Math.floor(bytes / 1024 / 1024)} MB are free, 512 MB are needed. Free some space or set DATA_DIR.`

function lock(file: string, dataDir: string): () => void {
  const holder = Number(existsSync(file) ? readFileSync(file, 'utf8') : 0)
  if (holder > 0 && holder !== process.pid && isAlive(holder) && isRunner(holder)) {
    throw new StartError(`${dataDir} is in use by another Picket (process ${holder}). Stop it or set DATA_DIR.`)
  }
  writeFileSync(file, String(process.pid))
  return () => rmSync(file, { force: true })
}

/** Whether the process is a runner; its id may have been reused by another program. */
function isRunner(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('start.mjs')
  } catch {
    return process.platform !== 'linux'
  }
}

export function readInstallationState(dataDir: string, env: NodeJS.ProcessEnv): InstallationState {
  const file = buildStatePath(dataDir)
  const kept: Partial<InstallationState> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const state = {
    secretKey: kept.secretKey ?? randomBytes(32).toString('base64'),
    postgresPassword: kept.postgresPassword ?? randomBytes(24).toString('base64url'),
    natsOperatorSeed: kept.natsOperatorSeed ?? generateOperatorSeed(),
    databases: kept.databases ?? {},
  }
  writeInstallationState(dataDir, state)
  return env.SECRET_KEY ? { ...state, secretKey: env.SECRET_KEY } : state
}

/** Writes a new file and renames it, so that a crash leaves the old state. */
export function writeInstallationState(dataDir: string, state: InstallationState): void {
  const file = buildStatePath(dataDir)
  writeFileSync(`${file}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

type Addresses = { natsUrl: string; isEmbeddedNats: boolean; clickhouseUrl: string; egressAllow: string }

/** Stores the addresses of the data stores and the allowed ranges for the operator's command line (admin.mjs). */
export function writeAddresses(dataDir: string, addresses: Addresses): void {
  writeFileSync(join(dataDir, 'addresses.json'), `${JSON.stringify(addresses)}\n`, { mode: 0o600 })
}

const buildStatePath = (dataDir: string) => join(dataDir, 'keep.json')
