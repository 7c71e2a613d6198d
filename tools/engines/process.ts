import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, createWriteStream, mkdirSync, openSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'

/** A running server. */
export type Engine = {
  url: string
  pid: number
  /** resolves when the process has exited; never rejects */
  exited: Promise<void>
  stop(): Promise<void>
}

export type ProcessIdentity = {
  uid: number
  gid: number
  /** may pass directories that it cannot access */
  passThrough: boolean
}

type SpawnOptions = {
  command: string
  args: string[]
  logFile: string
  /** sent by `stop`, and when the parent process exits */
  stopSignal: NodeJS.Signals
  env?: NodeJS.ProcessEnv
  as?: ProcessIdentity
  ipc?: boolean
  /** called for each line of output, in addition to the log */
  onLine?: (line: string) => void
}

export type BoundProcess = { pid: number; child: ChildProcess; exited: Promise<void>; stop(): Promise<void> }

const STOP_TIMEOUT_MS = 60_000

/**
 * Starts a process that ends with this one (Linux: parent-death signal, set by `setpriv` of util-linux). It has its own
 * process group, so that Ctrl-C in a terminal reaches only this process, which stops the others in order.
 */
export function spawnBound(options: SpawnOptions): BoundProcess {
  mkdirSync(dirname(options.logFile), { recursive: true })
  const log = openSync(options.logFile, 'a')
  const [command, args] = buildBoundCommand(options.command, options.args, options.stopSignal, options.as)
  const output = options.onLine ? 'pipe' : log
  const child = spawn(command, args, {
    detached: true,
    env: options.env ?? process.env,
    stdio: options.ipc ? ['ignore', output, output, 'ipc'] : ['ignore', output, output],
    ...(options.as && !hasSetpriv() ? { uid: options.as.uid, gid: options.as.gid } : {}),
  })
  if (options.onLine) copyLines(child, log, options.onLine)
  else closeSync(log)
  const exited = new Promise<void>(resolve => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  const pid = child.pid ?? 0
  return { pid, child, exited, stop: () => stopProcess(pid, options.stopSignal, exited) }
}

function copyLines(child: ChildProcess, log: number, onLine: (line: string) => void): void {
  const file = createWriteStream('', { fd: log })
  file.on('error', () => {}) // a full disk must not end the supervisor
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue
    createInterface({ input: stream }).on('line', line => {
      file.write(`${line}\n`)
      onLine(line)
    })
  }
  child.once('close', () => file.end())
}

/** Extends a command line so that the process receives `signal` when its parent exits (Linux). */
export function buildBoundCommand(
  command: string,
  args: string[],
  signal: NodeJS.Signals,
  as?: ProcessIdentity,
): [command: string, args: string[]] {
  if (!hasSetpriv()) return [command, args]
  return ['setpriv', [...buildIdentityFlags(as), `--pdeathsig=${signal.slice(3)}`, '--', command, ...args]]
}

/** The flags of `setpriv` that start a program as another user. */
export function buildIdentityFlags(as?: ProcessIdentity): string[] {
  if (!as) return []
  const flags = [`--reuid=${as.uid}`, `--regid=${as.gid}`, '--clear-groups']
  if (!as.passThrough) return flags
  // without no_setuid_fixup, access() ignores the capability, and initdb uses access() for its own file
  return [...flags, '--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup']
}

let setpriv: boolean | undefined
function hasSetpriv(): boolean {
  setpriv ??= process.platform === 'linux' && spawnSync('setpriv', ['--version']).status === 0
  return setpriv
}

/** Sends a signal to a process, and kills it after a timeout. Resolves when it has exited. */
async function stopProcess(pid: number, signal: NodeJS.Signals, exited?: Promise<void>): Promise<void> {
  if (!sendSignal(pid, signal)) return
  const gone = exited ?? untilGone(pid)
  const inTime = await Promise.race([gone.then(() => true), delay(STOP_TIMEOUT_MS).then(() => false)])
  if (inTime) return
  sendSignal(pid, 'SIGKILL')
  await gone
}

/**
 * Stops the process of an earlier run in a data directory if it is still running. `parts`: of its command line, so that another
 * program with a reused process id, or the same program of another data directory, is not stopped.
 */
export async function stopStale(pidFile: string, parts: string[], signal: NodeJS.Signals): Promise<void> {
  const pid = Number(readText(pidFile).split('\n')[0])
  if (!Number.isInteger(pid) || pid <= 1 || pid === process.pid) return
  const line = commandLine(pid)
  if (!parts.every(part => line.includes(part))) return
  await stopProcess(pid, signal)
}

/** The last lines of a log, to be shown when a server did not start. */
export function readLogTail(logFile: string, lines = 5): string {
  return readText(logFile).trimEnd().split('\n').slice(-lines).join('\n')
}

export function isAlive(pid: number): boolean {
  return sendSignal(pid, 0)
}

const delay = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms).unref())

async function untilGone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise(resolve => setTimeout(resolve, 20))
}

function commandLine(pid: number): string {
  try {
    return `${readlinkSync(`/proc/${pid}/exe`)} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`
  } catch {
    return ''
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch {
    return false
  }
}
