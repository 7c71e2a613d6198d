import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from '../engines/process.ts'
import { StartError } from '../start/settings.ts'

const buildEnvironmentPath = (dataDir: string) => join(dataDir, 'environment.json')

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
  const unlock = () => {
    for (const path of [file, buildEnvironmentPath(dataDir)]) rmSync(path, { force: true })
  }
  // of an earlier run that was killed
  unlock()
  writeFileSync(file, String(process.pid))
  return unlock
}

/** Whether the process is a runner; its id may have been reused by another program. */
function isRunner(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('start.mjs')
  } catch {
    return process.platform !== 'linux'
  }
}

/** Stores the variables of the running programs for the operator's command line (admin.mjs). */
export function writeEnvironment(dataDir: string, env: Record<string, string>): void {
  writeFileSync(buildEnvironmentPath(dataDir), `${JSON.stringify(env)}\n`, { mode: 0o600 })
}
