import { randomInt } from 'node:crypto'
import { linkSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

const MIN_PORT = 11_000
const MAX_TRIES = 100

/**
 * A free port on loopback. It is below the range of outgoing connections, so none of them can use it while its server is not
 * running. It is reserved for this process among processes of the same user until this process exits.
 */
export async function reserveFreePort(): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const port = randomInt(MIN_PORT, lowestOfConnections())
    if (await reservePort(port)) return port
  }
  throw new Error(`none of ${MAX_TRIES} random ports from ${MIN_PORT} is free`)
}

/**
 * Reserves a port for this process until it exits. False when the port is in use, or reserved by another process that may not
 * listen yet, so that two simultaneous starts get different ports.
 */
export async function reservePort(port: number, host = '127.0.0.1'): Promise<boolean> {
  return reserve(port) && (await isFree(port, host))
}

/** A process: its id and start time. A restarted container reuses ids and keeps its files. */
type Holder = { pid: number; startedAt: string }

const OWN: Holder = { pid: process.pid, startedAt: readStartTime(process.pid) }

/**
 * False when another running process has reserved the port. A file for each port contains the process. When the folder cannot
 * be created or belongs to another user, nothing is reserved.
 */
function reserve(port: number): boolean {
  const folder = join(tmpdir(), `picket-ports-${userInfo().uid}`)
  const file = join(folder, String(port))
  if (!isOwn(folder)) return true
  // written first and linked afterwards, so that no process reads an empty file
  const written = `${file}.${process.pid}`
  writeFileSync(written, `${OWN.pid} ${OWN.startedAt}`)
  try {
    return link(written, file) || (removeStale(file, `${written}.stale`) && link(written, file))
  } finally {
    rmSync(written, { force: true })
  }
}

/** False when the file exists. Only one of several simultaneous processes succeeds. */
function link(written: string, file: string): boolean {
  try {
    linkSync(written, file)
    return true
  } catch {
    return false
  }
}

/**
 * Removes the file of a process that has exited. It is renamed first, because another process may have replaced it since it
 * was read; then it is restored.
 */
function removeStale(file: string, aside: string): boolean {
  if (isRunning(readHolder(file))) return false
  try {
    renameSync(file, aside)
  } catch {
    // another process was faster
    return true
  }
  const isReplaced = isRunning(readHolder(aside))
  if (isReplaced) link(aside, file)
  rmSync(aside, { force: true })
  return !isReplaced
}

/** Process 0 when the file does not exist. */
function readHolder(file: string): Holder {
  try {
    const [pid, startedAt = ''] = readFileSync(file, 'utf8').split(' ')
    return { pid: Number(pid), startedAt }
  } catch {
    return { pid: 0, startedAt: '' }
  }
}

/** In ticks since boot; empty when it is not available. */
function readStartTime(pid: number): string {
  try {
    // fields after the name in parentheses, which may contain anything
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

function isOwn(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const found = lstatSync(folder)
    return found.isDirectory() && found.uid === userInfo().uid
  } catch {
    return false
  }
}

/** Compares only the id when the start time is unknown. */
function isRunning({ pid, startedAt }: Holder): boolean {
  if (!(pid > 0) || !isAlive(pid)) return false
  const started = readStartTime(pid)
  // this process always writes its start time if it is available
  if (startedAt === '') return started === '' || pid !== OWN.pid
  return started === '' || started === startedAt
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function lowestOfConnections(): number {
  try {
    const [lowest] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/).map(Number)
    return lowest! > MIN_PORT ? lowest! : 32_768
  } catch {
    return 32_768
  }
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, host, () => server.close(() => resolve(true)))
  })
}
