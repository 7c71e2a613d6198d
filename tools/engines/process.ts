import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, createWriteStream, mkdirSync, openSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'

/** A server that somebody started and will stop. */
export type Engine = {
  url: string
  pid: number
  /** resolves, never rejects, when the process has ended, for whatever reason */
  exited: Promise<void>
  stop(): Promise<void>
}

export type ProcessIdentity = {
  uid: number
  gid: number /** may pass directories that are closed to it */
  passThrough: boolean
}

export type SpawnOptions = {
  command: string
  args: string[]
  logFile: string
  /** sent when the process that started this one ends, however it ends; also how `stop` asks */
  stopSignal: NodeJS.Signals
  env?: NodeJS.ProcessEnv
  as?: ProcessIdentity
  ipc?: boolean
  /** told of each line that it prints, beside the log */
  onLine?: (line: string) => void
}

export type BoundProcess = { pid: number; child: ChildProcess; exited: Promise<void>; stop(): Promise<void> }

const STOP_TIMEOUT_MS = 60_000

/**
 * Starts a process that dies with this one (Linux: parent-death signal, set by `setpriv` of util-linux), in a process
 * group of its own, so that Ctrl-C in a terminal reaches only the one who knows the order in which to stop.
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
  file.on('error', () => {}) // a full disk must not end who supervises
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue
    createInterface({ input: stream }).on('line', line => {
      file.write(`${line}\n`)
      onLine(line)
    })
  }
  child.once('close', () => file.end())
}

/** A command line that does the same and is sent `signal` when the process that starts it ends, however it ends (Linux). */
export function buildBoundCommand(
  command: string,
  args: string[],
  signal: NodeJS.Signals,
  as?: ProcessIdentity,
): [command: string, args: string[]] {
  if (!hasSetpriv()) return [command, args]
  return ['setpriv', [...buildIdentityFlags(as), `--pdeathsig=${signal.slice(3)}`, '--', command, ...args]]
}

/** What makes `setpriv` start a program as somebody else. */
export function buildIdentityFlags(as?: ProcessIdentity): string[] {
  if (!as) return []
  const flags = [`--reuid=${as.uid}`, `--regid=${as.gid}`, '--clear-groups']
  if (!as.passThrough) return flags
  // without the last one access() knows nothing of the capability, and initdb asks by it for its own file
  return [...flags, '--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup']
}

let setpriv: boolean | undefined
function hasSetpriv(): boolean {
  setpriv ??= process.platform === 'linux' && spawnSync('setpriv', ['--version']).status === 0
  return setpriv
}

/** Asks a process to end, waits, and kills it when it does not listen. Resolves when it is gone. */
export async function stopProcess(pid: number, signal: NodeJS.Signals, exited?: Promise<void>): Promise<void> {
  if (!sendSignal(pid, signal)) return
  const gone = exited ?? untilGone(pid)
  const inTime = await Promise.race([gone.then(() => true), delay(STOP_TIMEOUT_MS).then(() => false)])
  if (inTime) return
  sendSignal(pid, 'SIGKILL')
  await gone
}

/**
 * Stops the process that an earlier run left behind in a data directory, if it still runs. `executable` is part of its
 * command line: a process id that went to another program since is left alone.
 */
export async function stopStale(pidFile: string, executable: string, signal: NodeJS.Signals): Promise<void> {
  const pid = Number(readText(pidFile).split('\n')[0])
  if (!Number.isInteger(pid) || pid <= 1 || pid === process.pid) return
  if (!commandLine(pid).includes(executable)) return
  await stopProcess(pid, signal)
}

/** The end of a log, to be shown when a server did not start. */
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
