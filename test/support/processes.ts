import { type ChildProcess, spawn } from 'node:child_process'
import { isAbsolute } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { buildBoundCommand } from '../../tools/engines/process.ts'
import type { Teardown } from './teardown.ts'
import { HANG_MS } from './wait.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export type ProgramOptions = {
  /** path in the repository, for example `dist/control-plane.js` (built by `npm run build`), or the full path of an executable */
  program: string
  args?: string[]
  /** the environment, with PATH added and nothing else */
  env?: Record<string, string>
  /** called with each line of its log */
  onLine?: (line: LogLine) => void
}

/** A line of a program's log: the parsed JSON, or `{ text }` for anything else it printed. */
// biome-ignore lint/suspicious/noExplicitAny: tests read log lines of every kind
export type LogLine = Record<string, any>

export type Program = {
  readonly pid: number
  readonly lines: LogLine[]
  /** resolves to its exit code when it has ended, null after a signal; a new promise after each start */
  readonly exited: Promise<number | null>
  /** the first line with that `event`, past or future; fails when the program ends before */
  untilEvent(event: string, timeoutMs?: number): Promise<LogLine>
  /** whether it runs, and the newest lines of its log with the level of a warning or more; for the output of a failed test */
  describe(): string
  /** sends SIGTERM and resolves to its exit code */
  stop(): Promise<number | null>
  kill9(): Promise<void>
  /** stops and continues it, like a machine that hangs */
  freeze(): void
  thaw(): void
  signal(signal: NodeJS.Signals): void
  /** starts the same program again, with a changed environment if given; `lines` is emptied */
  start(env?: Record<string, string>): void
}

/** Runs a program as a process. A process that is left at the end of the test is killed and reported. */
export function startProgram(t: Teardown, options: ProgramOptions): Program {
  let env = options.env ?? {}
  let lines: LogLine[] = []
  let child: ChildProcess
  let exited: Promise<number | null>
  let listeners = new Set<() => void>()

  const start = (changes: Record<string, string> = {}) => {
    env = { ...env, ...changes }
    lines = []
    listeners = new Set()
    const mine = lines
    const wakeUps = listeners
    const { program, args = [] } = options
    const node = [process.execPath, `${ROOT}${program}`]
    const [command = '', ...before] = isAbsolute(program) ? [program] : node
    // a test that crashes leaves no process
    child = spawn(...buildBoundCommand(command, [...before, ...args], 'SIGKILL'), {
      cwd: ROOT,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const started = child
    for (const stream of [started.stdout, started.stderr]) {
      if (!stream) continue
      createInterface({ input: stream }).on('line', line => {
        const parsed = parse(line)
        mine.push(parsed)
        options.onLine?.(parsed)
        for (const wake of wakeUps) wake()
      })
    }
    exited = new Promise(resolve => {
      started.once('close', code => {
        if (code !== 0 && code !== null && hasStarted(mine)) {
          console.error(`${program} ended with exit code ${code} after:\n${logTail(mine)}`)
        }
        resolve(code)
        for (const wake of wakeUps) wake()
      })
    })
  }

  const hasEnded = () => child.exitCode !== null || child.signalCode !== null

  const untilEvent = (event: string, timeoutMs = HANG_MS) =>
    new Promise<LogLine>((resolve, reject) => {
      const look = () => {
        const found = lines.find(line => line.event === event)
        if (found) finish(() => resolve(found))
        else if (hasEnded())
          finish(() => reject(new Error(`${options.program} ended before "${event}":\n${logTail(lines)}`)))
      }
      const timer = setTimeout(
        () =>
          finish(() =>
            reject(new Error(`${options.program} did not say "${event}" in ${timeoutMs} ms:\n${logTail(lines)}`)),
          ),
        timeoutMs,
      )
      const wakeUps = listeners
      const finish = (settle: () => void) => {
        clearTimeout(timer)
        wakeUps.delete(look)
        settle()
      }
      wakeUps.add(look)
      look()
    })

  const stop = async () => {
    if (hasEnded()) return exited
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), HANG_MS)
    const code = await exited
    clearTimeout(timer)
    return code
  }
  const kill9 = async () => {
    child.kill('SIGKILL')
    await exited
  }

  start()
  t.teardown(async () => {
    if (hasEnded()) return
    child.kill('SIGCONT')
    await stop()
    if (child.signalCode === 'SIGKILL')
      throw new Error(`${options.program} did not end within ${HANG_MS} ms of SIGTERM`)
  })
  return {
    get pid() {
      return child.pid ?? 0
    },
    get lines() {
      return lines
    },
    get exited() {
      return exited
    },
    untilEvent,
    describe: () =>
      `${options.program} ${hasEnded() ? `ended with ${child.exitCode ?? child.signalCode}` : 'runs'}\n${logTail(lines.filter(isWarning))}`,
    stop,
    kill9,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    signal: signal => void child.kill(signal),
    start,
  }
}

function parse(line: string): LogLine {
  try {
    const value = JSON.parse(line)
    return typeof value === 'object' && value !== null ? value : { text: line }
  } catch {
    return { text: line }
  }
}

/** Whether the program was ready. The reason of a later end is printed, because the test only sees refused connections. */
const hasStarted = (lines: LogLine[]) => lines.some(({ event }) => event === 'ready' || event === 'connected')

/** A line that is not JSON is output of Node itself. */
const isWarning = ({ level, text }: LogLine) => text !== undefined || level >= 40

function logTail(lines: LogLine[]): string {
  return lines
    .slice(-15)
    .map(line => line.text ?? JSON.stringify(line))
    .join('\n')
}
