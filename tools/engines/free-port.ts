import { randomInt } from 'node:crypto'
import { linkSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

const MIN_PORT = 11_000
const MAX_TRIES = 100

/**
 * A port of the loopback address on which nothing listens at this moment. It is below those that the kernel gives to
 * outgoing connections, so none of these takes it before it is used, or while its server is restarted. Nor does another
 * process of the same user that asks for a free port: it is this process' until it ends.
 */
export async function reserveFreePort(): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const port = randomInt(MIN_PORT, lowestOfConnections())
    if (await reservePort(port)) return port
  }
  throw new Error(`no port of ${MAX_TRIES} from ${MIN_PORT} on is free`)
}

/**
 * Takes a port for this process until it ends. False when something listens there, or another process has taken it that may
 * not listen yet: two starts at the same moment get different ports.
 */
export async function reservePort(port: number, host = '127.0.0.1'): Promise<boolean> {
  return reserve(port) && (await isFree(port, host))
}

/** A process: its id and when it started. A restarted container gives the same ids again, and keeps its files. */
type Holder = { pid: number; startedAt: string }

const OWN: Holder = { pid: process.pid, startedAt: readStartTime(process.pid) }

/**
 * False when another process that runs has it. A file for each port holds the process that has asked for it last.
 * Where the folder cannot be made, or belongs to another user, nothing is reserved.
 */
function reserve(port: number): boolean {
  const folder = join(tmpdir(), `picket-ports-${userInfo().uid}`)
  const file = join(folder, String(port))
  if (!isOurs(folder)) return true
  // written first and named after: no process reads a file without a process in it
  const written = `${file}.${process.pid}`
  writeFileSync(written, `${OWN.pid} ${OWN.startedAt}`)
  try {
    return link(written, file) || (removeStale(file, `${written}.stale`) && link(written, file))
  } finally {
    rmSync(written, { force: true })
  }
}

/** False when the file is there. Of processes that do it at the same moment one succeeds. */
function link(written: string, file: string): boolean {
  try {
    linkSync(written, file)
    return true
  } catch {
    return false
  }
}

/**
 * Removes the file of a process that has ended. It is moved away first, because another process may have replaced it since it
 * was read: then it is put back.
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

/** The process 0 when there is none. */
function readHolder(file: string): Holder {
  try {
    const [pid, startedAt = ''] = readFileSync(file, 'utf8').split(' ')
    return { pid: Number(pid), startedAt }
  } catch {
    return { pid: 0, startedAt: '' }
  }
}

/** In ticks since the machine started; empty where the kernel does not say it. */
function readStartTime(pid: number): string {
  try {
    // what follows the name, which may hold anything, in brackets: field 3 and others
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

function isOurs(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const found = lstatSync(folder)
    return found.isDirectory() && found.uid === userInfo().uid
  } catch {
    return false
  }
}

/** By its id alone where it is not known when it started. */
function isRunning({ pid, startedAt }: Holder): boolean {
  if (!(pid > 0) || !isAlive(pid)) return false
  const started = readStartTime(pid)
  // this process always writes when it started, where that is known
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
